import type { EvalCase } from '../../core/case.ts';
import type { Json } from '../../core/json.ts';
import type { ToolCall, Trajectory } from '../../core/trajectory.ts';

/** A text the agent sent out, with the words a reason uses for its place. */
export interface OutgoingText {
  where: string;
  text: string;
}

/**
 * All an agent lets out: what it said to the user, tool arguments (keys and numbers too, malformed ones raw), and what
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
    texts.push({ where: `the message to sub-agent ${run.name}`, text: run.input });
    for (const call of run.tool_calls) {
      addCall(call, `arguments of call ${call.index + 1} \`${call.tool}\` of sub-agent ${run.name}`, texts);
    }
  }
  return texts;
}

/** What the user was told: the answer, and in a dialogue the replies before it. Turns the case brought along are not the agent's. */
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
  return texts;
}

function addCall(call: ToolCall, where: string, texts: OutgoingText[]): void {
  if (call.raw_arguments !== null) texts.push({ where, text: call.raw_arguments });
  const rest: Json[] = call.args === null ? [] : [call.args];
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
