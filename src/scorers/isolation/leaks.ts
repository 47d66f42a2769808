import { deepEqual } from '../../core/deep-equal.ts';
import type { Json } from '../../core/json.ts';
import type { SubAgentRun, ToolCall } from '../../core/trajectory.ts';
import { preview } from '../values/preview.ts';
import { type IsolationBreach, type IsolationCheck, isTelling, privateTexts, runName } from './breach.ts';

/**
 * A step of a sub-agent among the main agent's: the same call under the same id and time, or a call of a tool that the main
 * agent was not offered and the sub-agent made. Where nobody knows which tools the main agent has (none are offered to it:
 * it brings its own), a like call that might be its own is not judged.
 */
export const stepsInMain: IsolationCheck = ({ trajectory }) => {
  const { sub_agents: runs, tool_calls: calls, available_tools: tools } = trajectory;
  const offered = new Set(tools.map(({ name }) => name));
  let unclear = false;
  const breaches = runs.flatMap((run) =>
    run.tool_calls.flatMap((step): IsolationBreach[] => {
      const like = calls.filter((call) => call.tool === step.tool && deepEqual(call.args, step.args));
      const foreign = offered.size > 0 && !offered.has(step.tool);
      const copy = foreign ? like[0] : like.find((call) => isSameStep(call, step));
      unclear ||= offered.size === 0 && copy === undefined && like.some((call) => mayBeSame(call, step));
      if (copy === undefined) return [];
      const name = runName(run, runs);
      const reason = `call ${step.index + 1} \`${step.tool}\` of ${name} stands among the main agent's as call ${copy.index + 1}`;
      return [{ rule: 'steps_in_main', run: name, reason }];
    }),
  );
  return breaches.length === 0 && unclear ? null : breaches;
};

/** Ids this long are made to be unique; `call_1` may stand in two conversations. */
const UNIQUE_ID = 16;

/** True for a step that certainly is the other: its id, and its time, or where that is not known an id that is unique. */
function isSameStep(call: ToolCall, step: ToolCall): boolean {
  if (call.id === null || call.id === '' || call.id !== step.id || !deepEqual(call.result, step.result)) return false;
  return isTimed(step) ? isSameMoment(call, step) : call.id.length >= UNIQUE_ID;
}

/** True where nothing tells two like calls apart. */
function mayBeSame(call: ToolCall, step: ToolCall): boolean {
  const otherId = [call.id, step.id].every((id) => id !== null && id !== '') && call.id !== step.id;
  const otherTime = isTimed(step) && !isSameMoment(call, step);
  return !otherId && !otherTime && deepEqual(call.result, step.result);
}

/** False for a step whose agent does not report times. */
function isTimed({ started_at_ms, ended_at_ms }: ToolCall): boolean {
  return started_at_ms > 0 || ended_at_ms > 0;
}

function isSameMoment(call: ToolCall, step: ToolCall): boolean {
  return call.started_at_ms === step.started_at_ms && call.ended_at_ms === step.ended_at_ms;
}

/**
 * What a sub-agent said, or was answered, on the way in the main agent's conversation or answer, or packed into the
 * sub-agent's result. What the main agent got from a tool itself is its own.
 */
export const messagesInMain: IsolationCheck = ({ trajectory }) => {
  const { sub_agents: runs, messages, answer } = trajectory;
  const ran = runs.filter((run) => !run.blocked);
  if (ran.length > 0 && ran.every((run) => run.messages === undefined)) return null;
  const own = new Set(trajectory.tool_calls.flatMap(({ result }) => textsOf(result)));
  // What stood there before the agent's first turn cannot have come from a sub-agent.
  const begun = messages.findIndex(({ role }) => role === 'assistant');
  const later = begun === -1 ? [] : messages.slice(begun);
  const main = [...later.map(({ content }) => content ?? ''), answer ?? ''];
  return ran.flatMap((run): IsolationBreach[] => {
    const name = runName(run, runs);
    const leaked = privateTexts(run).find((text) => !own.has(text) && main.some((said) => said.includes(text.trim())));
    if (leaked !== undefined) {
      const reason = `${preview(leaked)} of ${name} stands in the main agent's context`;
      return [{ rule: 'messages_in_main', run: name, reason }];
    }
    const packed = thoughts(run).find((text) => run.output?.includes(text) === true && run.output.trim() !== text);
    if (packed === undefined) return [];
    const reason = `the result of ${name} carries what it said on the way: ${preview(packed)}`;
    return [{ rule: 'messages_in_main', run: name, reason }];
  });
};

function textsOf(result: Json): string[] {
  return typeof result === 'string' ? [result, JSON.stringify(result)] : [JSON.stringify(result)];
}

/** Text beside tool calls. */
function thoughts(run: SubAgentRun): string[] {
  return (run.messages ?? [])
    .filter(({ role, tool_calls: calls }) => role === 'assistant' && calls !== undefined && calls.length > 0)
    .map(({ content }) => content?.trim())
    .filter(isTelling);
}

/**
 * State of one sibling in another: a value that one changed is what the other begins with, or what one was told, said or was
 * answered stands in what the other was told, without having been handed over in its input.
 */
export const sharedState: IsolationCheck = ({ trajectory: { sub_agents: runs } }) => {
  const ran = runs.filter((run) => !run.blocked);
  const known = ran.filter((run) => run.messages !== undefined || isState(run.initial_state));
  if (ran.length > 1 && known.length < 2) return null;
  return ran.flatMap((run) =>
    ran.flatMap((other): IsolationBreach[] => {
      if (run === other || (run.parent ?? null) !== (other.parent ?? null)) return [];
      const what = stateOf(run, other) ?? toldOf(run, other);
      if (what === null) return [];
      const [from, to] = [runName(run, runs), runName(other, runs)];
      return [{ rule: 'shared_state', run: to, reason: `${to} begins with what belongs to ${from}: ${what}` }];
    }),
  );
};

function isState(state: SubAgentRun['initial_state']): boolean {
  return state !== undefined && state !== null;
}

/** A member that `run` changed and `other` begins with; null: none. */
function stateOf(run: SubAgentRun, other: SubAgentRun): string | null {
  const [before, after, begun] = [run.initial_state ?? {}, run.end_state ?? {}, other.initial_state ?? {}];
  const key = Object.keys(after).find(
    (name) =>
      Object.hasOwn(begun, name) &&
      !deepEqual(after[name] ?? null, before[name] ?? null) &&
      deepEqual(after[name] ?? null, begun[name] ?? null),
  );
  return key === undefined ? null : `state \`${key}\` = ${preview(after[key])}`;
}

function toldOf(run: SubAgentRun, other: SubAgentRun): string | null {
  const told = (other.messages ?? []).filter(({ role }) => role === 'system' || role === 'user');
  const texts = [...(run.input === other.input ? [] : [run.input]), ...privateTexts(run)].filter(isTelling);
  const text = texts.find(
    (one) => !other.input.includes(one.trim()) && told.some(({ content }) => content?.includes(one.trim()) === true),
  );
  return text === undefined ? null : preview(text);
}
