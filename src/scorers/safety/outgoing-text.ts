import type { EvalCase } from '../../core/case.ts';
import type { Json } from '../../core/json.ts';
import type { ArtifactPart, SubAgentRun, ToolCall, Trajectory } from '../../core/trajectory.ts';

/** A text the agent sent out, with the words a reason uses for its place. */
export interface OutgoingText {
  where: string;
  text: string;
}

/**
 * All an agent lets out: what the user was told and given, tool arguments (keys and numbers too, malformed ones raw), and what
 * sub-agents are told.
 */
export function outgoingTexts(
  trajectory: Trajectory,
  evalCase: Pick<EvalCase, 'context' | 'messages'>,
): OutgoingText[] {
  const texts = saidTexts(trajectory, evalCase);
  for (const call of trajectory.tool_calls)
    addCall(call, `arguments of call ${call.index + 1} \`${call.tool}\``, texts);
  for (const run of trajectory.sub_agents) {
    for (const text of toldTexts(run)) texts.push({ where: `the message to sub-agent ${run.name}`, text });
    for (const call of run.tool_calls) {
      addCall(call, `arguments of call ${call.index + 1} \`${call.tool}\` of sub-agent ${run.name}`, texts);
    }
  }
  return texts;
}

/**
 * What the user was told: the answer, in a dialogue the replies before it, and what was handed over beside them. Turns the
 * case brought along are not the agent's.
 */
export function saidTexts(trajectory: Trajectory, evalCase: Pick<EvalCase, 'context' | 'messages'>): OutgoingText[] {
  const texts: OutgoingText[] = [];
  if (trajectory.answer !== null) texts.push({ where: 'the answer', text: trajectory.answer });
  const given = new Map<string, number>();
  for (const { role, content } of [...(evalCase.context?.memory ?? []), ...(evalCase.messages ?? [])]) {
    if (role === 'assistant' && content !== null) given.set(content, (given.get(content) ?? 0) + 1);
  }
  let reply = 0;
  for (const { role, content, tool_calls: calls } of trajectory.messages) {
    if (role !== 'assistant' || content === null || content === '') continue;
    const left = given.get(content) ?? 0;
    if (left > 0) given.set(content, left - 1);
    // Text beside tool calls is a thought on the way, not a reply.
    else if (calls === undefined || calls.length === 0) {
      reply += 1;
      if (content !== trajectory.answer) texts.push({ where: `reply ${reply} to the user`, text: content });
    }
  }
  addArtifacts(trajectory, texts);
  return texts;
}

function addArtifacts({ artifacts = [] }: Trajectory, texts: OutgoingText[]): void {
  artifacts.forEach(({ name, description, parts }, at) => {
    const where = `artifact ${at + 1}`;
    for (const text of [name, description]) if (text !== null) texts.push({ where, text });
    for (const part of parts) addPart(part, where, texts);
  });
}

function addPart(part: ArtifactPart, where: string, texts: OutgoingText[]): void {
  if (part.kind === 'text') texts.push({ where, text: part.text });
  else if (part.kind === 'data') addJson(part.data, where, texts);
  else {
    for (const text of [part.filename, part.url, textOfFile(part)]) if (text !== null) texts.push({ where, text });
  }
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|(?:x-)?yaml|javascript|x-sh)\b)|\+(?:json|xml)\b/i;

/** The content of a file that is text; null: it is none, or was not kept. */
function textOfFile({ base64, media_type: type }: Extract<ArtifactPart, { kind: 'file' }>): string | null {
  if (base64 === null || !TEXT_TYPE.test(type)) return null;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
  } catch {
    return base64;
  }
}

/** What a sub-agent was told: its input, what was handed over with it, and the messages it began with. */
function toldTexts({ input, passed_context: passed = [], messages = [] }: SubAgentRun): string[] {
  const begun = messages.findIndex(({ role }) => role === 'assistant');
  const first = begun === -1 ? messages : messages.slice(0, begun);
  const users = first.filter(({ role }) => role === 'user').map(({ content }) => content ?? '');
  return [input, ...[...new Set([...passed, ...users])].filter((text) => !input.includes(text))];
}

function addCall(call: ToolCall, where: string, texts: OutgoingText[]): void {
  if (call.raw_arguments !== null) texts.push({ where, text: call.raw_arguments });
  if (call.args !== null) addJson(call.args, where, texts);
}

/** Every text and number in a value, keys included. */
function addJson(whole: Json, where: string, texts: OutgoingText[]): void {
  const rest: Json[] = [whole];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === 'string') texts.push({ where, text: value });
    else if (typeof value === 'number') texts.push({ where, text: String(value) });
    else if (Array.isArray(value)) for (const item of value) rest.push(item);
    else if (value !== null && typeof value === 'object') {
      for (const key of Object.keys(value)) {
        texts.push({ where, text: key });
        rest.push(value[key] ?? null);
      }
    }
  }
}
