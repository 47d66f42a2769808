import { canonicalJson } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';
import type { SubAgentRun, ToolCall, Trajectory } from '../../core/trajectory.ts';

/** Longest text of one call's arguments or result that a judge is shown, UTF-16 code units; more is cut and said so. */
const LONGEST_PART = 4_000;

/** Tools as called, in the order made: one line a call, without results. Null = none. */
export function callsOf(calls: readonly ToolCall[]): string | null {
  return listed(calls.map((call) => `turn ${call.turn + 1}: ${callLine(call)}`));
}

/** What the main agent did, call by call with results, and how the trial ended. */
export function stepsOf(trajectory: Trajectory): string {
  const calls = trajectory.tool_calls.map((call) => `turn ${call.turn + 1}: ${callWithResult(call)}`);
  const reason = trajectory.final_status_reason === null ? '' : ` (${trajectory.final_status_reason})`;
  const end = `ended ${trajectory.final_status}${reason}, ${trajectory.iterations} model turns`;
  return [listed(calls) ?? 'no tool call', end].join('\n');
}

/** What each sub-agent was told, did and returned, in the order dispatched. Null = none was dispatched. */
export function subAgentSteps(runs: readonly SubAgentRun[]): string | null {
  if (runs.length === 0) return null;
  return runs.map((run, at) => `sub-agent ${at + 1}: ${runText(run)}`).join('\n\n');
}

function runText(run: SubAgentRun): string {
  const facts = [
    run.parent === undefined || run.parent === null ? null : `dispatched by run ${run.parent}`,
    run.blocked === undefined || run.blocked === null ? null : `blocked: ${run.blocked}`,
    run.timed_out === true ? 'cut by its timeout' : null,
    run.allowed_tools === undefined || run.allowed_tools === null
      ? null
      : `may use: ${run.allowed_tools.join(', ') || 'no tool'}`,
  ].filter((fact) => fact !== null);
  return [
    `${run.name}, ended ${run.final_status}${facts.length === 0 ? '' : `; ${facts.join('; ')}`}`,
    `was told: ${shortened(run.input)}`,
    `did: ${listed(run.tool_calls.map(callWithResult)) ?? 'no tool call'}`,
    `returned: ${run.output === null ? 'nothing' : shortened(run.output)}`,
  ].join('\n');
}

function callWithResult(call: ToolCall): string {
  const result = call.error === null ? textOf(call.result) : `failed, ${call.error.kind}: ${call.error.message}`;
  const approval = call.approved === null ? '' : `\n   approved before: ${call.approved ? 'yes' : 'no'}`;
  return `${callLine(call)}${approval}\n   result: ${shortened(result)}`;
}

function callLine(call: ToolCall): string {
  if (call.malformed !== null)
    return `${call.tool} could not be read (${call.malformed}): ${shortened(call.raw_arguments ?? '')}`;
  return `${call.tool} ${shortened(canonicalJson(call.args ?? {}))}`;
}

/** A text as it is, other values as JSON. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function shortened(text: string): string {
  if (text.length <= LONGEST_PART) return text;
  // Half a surrogate pair would be no text.
  const end = /[\uD800-\uDBFF]/.test(text[LONGEST_PART - 1] ?? '') ? LONGEST_PART - 1 : LONGEST_PART;
  return `${text.slice(0, end)} … (${text.length - end} more characters are not shown)`;
}

/** Numbered lines; null for none. */
export function listed(lines: readonly string[]): string | null {
  return lines.length === 0 ? null : lines.map((line, at) => `${at + 1}. ${line}`).join('\n');
}
