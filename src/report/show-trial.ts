import type { ChatMessage, EvalCase } from '../core/case.ts';
import type { Json } from '../core/json.ts';
import type { Score } from '../core/score.ts';
import type { AgentArtifact, SubAgentRun, ToolCall, Trajectory } from '../core/trajectory.ts';
import { latencyMs } from '../core/trajectory.ts';
import type { TrialStatus } from '../core/trial.ts';
import { cleanText } from './clean.ts';
import { formatCount, formatDuration, formatMoney, NONE, plural } from './format.ts';
import { jsonLines, labelled, LABEL_WIDTH, lastLines, type ShowOptions, textLines } from './show-text.ts';
import { createStyle, type Style, type Tone } from './style.ts';

/** A judge's reply as stored. */
interface ShownVerdict {
  dimension: string;
  vote: number;
  model: string | null;
  parsed: Json;
  unscored_cause: string | null;
  reason: string | null;
  raw_reply: string | null;
  /** The evaluation that paid for it, when it came from the verdict cache. */
  cached_from?: string | null;
}

/** Everything `assay show` prints of one trial. */
export interface ShownTrial {
  evaluation_id: string;
  case_id: string;
  trial_index: number;
  /** null: not ended. */
  status: TrialStatus | null;
  error: { kind: string; message: string } | null;
  /** Failures survived on the way. */
  model_failures: number;
  rate_limits: number;
  deaths: number;
  cost_usd: number | null;
  judge_cost_usd: number | null;
  judge_tokens: number | null;
  evalCase: EvalCase | null;
  trajectory: Trajectory | null;
  scores: Score[];
  verdicts: ShownVerdict[];
}

const TONES: Record<TrialStatus, Tone> = {
  passed: 'good',
  failed: 'bad',
  unscored: 'warn',
  errored: 'warn',
  canceled: 'dim',
};

/** One trial step by step: what was said and called, then every score with its reason. Ends with a newline. */
export function renderTrial(trial: ShownTrial, options: ShowOptions): string {
  const style = createStyle(options.color);
  const sections = [
    headLines(trial, options, style),
    trial.trajectory === null ? [] : stepLines(trial.trajectory, options, style),
    trial.trajectory === null ? [] : endLines(trial.trajectory, options, style),
    scoreLines(trial.scores, options, style),
    verdictLines(trial.verdicts, options, style),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headLines(trial: ShownTrial, options: ShowOptions, style: Style): string[] {
  const status = trial.status === null ? 'not ended' : style(TONES[trial.status], trial.status);
  const about = trial.evalCase;
  const facts = [about?.category, about?.difficulty, about?.dimension, ...(about?.tags ?? [])]
    .filter((fact) => fact !== undefined)
    .map(cleanText);
  const survived = [
    ...(trial.model_failures > 0 ? [plural(trial.model_failures, 'failed model call')] : []),
    ...(trial.rate_limits > 0 ? [plural(trial.rate_limits, 'rate limit')] : []),
    ...(trial.deaths > 0 ? [plural(trial.deaths, 'death') + ' of its process'] : []),
  ];
  const width = options.width - LABEL_WIDTH;
  return [
    `${style('bold', cleanText(trial.case_id))}  trial ${trial.trial_index}  ${status}`,
    ...labelled('of', [trial.evaluation_id], 0),
    ...(facts.length === 0 ? [] : labelled('case', textLines(facts.join(' · '), width, true), 0)),
    ...(trial.error === null
      ? []
      : labelled('error', textLines(`${trial.error.kind}: ${trial.error.message}`, width, true), 0)),
    ...(survived.length === 0 ? [] : labelled('survived', [survived.join(', ')], 0)),
    ...labelled('usage', textLines(usageText(trial), width, true), 0),
  ];
}

function usageText(trial: ShownTrial): string {
  const { trajectory } = trial;
  const agent =
    trajectory === null
      ? 'no trajectory'
      : [
          plural(trajectory.iterations, 'model turn'),
          plural(trajectory.tool_calls.length, 'tool call'),
          `${trajectory.usage.total === null ? 'unknown' : formatCount(trajectory.usage.total)} tokens`,
          formatDuration(latencyMs(trajectory)),
          `cost ${formatMoney(trial.cost_usd)}`,
        ].join(', ');
  const judged = trial.judge_tokens !== null && trial.judge_tokens > 0;
  return judged
    ? `${agent}; judge: ${formatCount(trial.judge_tokens)} tokens, cost ${formatMoney(trial.judge_cost_usd)}`
    : agent;
}

/** The conversation in its order; the calls of a turn stand under the message that made them. */
function stepLines(trajectory: Trajectory, options: ShowOptions, style: Style): string[] {
  const calls = callsByTurn(trajectory.tool_calls);
  const shown = new Set<number>();
  const own = trajectory.messages.filter((message) => message.role === 'assistant').length;
  // Assistant messages the case brought along come first and are no turns.
  let turn = -Math.max(0, own - trajectory.iterations);
  const lines: string[] = [style('dim', 'Steps')];
  /** Calls of these turns that were not shown before. */
  const callsOf = (...turns: number[]): string[] =>
    turns.flatMap((of) => {
      const made = shown.has(of) ? [] : (calls.get(of) ?? []);
      shown.add(of);
      return made.flatMap((call) => callLines(call, trajectory, options, style));
    });
  for (const message of trajectory.messages) {
    // Results are shown with their calls.
    if (message.role === 'tool' && shown.size > 0) continue;
    // A module's own calls have no message that made them: they came before its answer.
    if (message === trajectory.messages.at(-1) && isAnswer(message)) lines.push(...callsOf(...calls.keys()));
    lines.push(...messageLines(message, options, style));
    if (message.role !== 'assistant') continue;
    if (turn >= 0) lines.push(...callsOf(turn));
    turn += 1;
  }
  lines.push(...callsOf(...calls.keys()));
  return [...lines, ...trajectory.sub_agents.flatMap((run) => subAgentLines(run, trajectory, options, style))];
}

function isAnswer(message: ChatMessage): boolean {
  return message.role === 'assistant' && (message.tool_calls ?? []).length === 0;
}

function callsByTurn(calls: readonly ToolCall[]): Map<number, ToolCall[]> {
  const turns = new Map<number, ToolCall[]>();
  for (const call of calls) turns.set(call.turn, [...(turns.get(call.turn) ?? []), call]);
  return turns;
}

function messageLines(message: ChatMessage, options: ShowOptions, style: Style): string[] {
  if (message.content === null || message.content === '') return [];
  const full = options.full || (message.role !== 'system' && message.role !== 'developer');
  const lines = textLines(message.content, options.width - LABEL_WIDTH - 2, options.full);
  // System prompts repeat in every trial: a glimpse is enough.
  const kept = full ? lines : lines.slice(0, 2).concat(lines.length > 2 ? ['… (--full shows the rest)'] : []);
  const label = message.role === 'assistant' ? 'agent' : message.role.slice(0, LABEL_WIDTH - 1);
  return labelled(style('bold', label), kept, 2);
}

function callLines(call: ToolCall, trajectory: Trajectory, options: ShowOptions, style: Style): string[] {
  const width = options.width - LABEL_WIDTH - 6;
  const at = formatDuration(Math.max(0, call.started_at_ms - trajectory.started_at_ms));
  const took = formatDuration(Math.max(0, call.ended_at_ms - call.started_at_ms));
  const approval = call.approved === null ? '' : call.approved ? ' · approved' : ` · ${style('bad', 'not approved')}`;
  const args =
    call.malformed === null
      ? jsonLines(call.args, width, options.full)
      : [
          ...textLines(`${call.malformed}; as sent:`, width, true),
          ...textLines(call.raw_arguments ?? NONE, width, options.full),
        ];
  const result = [
    ...(call.error === null
      ? []
      : labelled(
          style('bad', 'error'),
          textLines(`${call.error.kind}: ${call.error.message}`, width, options.full),
          6,
        )),
    // A tool that fails may have answered all the same: with text that is no JSON, for one.
    ...(call.error !== null && call.result === null ? [] : labelled('result', resultLines(call, width, options), 6)),
  ];
  return [
    `    ${style('bold', `#${call.index} ${cleanText(call.tool)}`)}  ${style('dim', `turn ${call.turn + 1} · after ${at} · took ${took}`)}${approval}`,
    ...labelled(call.malformed === null ? 'args' : style('bad', 'malformed'), args, 6),
    ...result,
  ];
}

function resultLines(call: ToolCall, width: number, options: ShowOptions): string[] {
  return call.error !== null && typeof call.result === 'string'
    ? textLines(call.result, width, options.full)
    : jsonLines(call.result, width, options.full);
}

function subAgentLines(run: SubAgentRun, trajectory: Trajectory, options: ShowOptions, style: Style): string[] {
  const width = options.width - LABEL_WIDTH - 4;
  const blocked = run.blocked ?? null;
  const status = blocked === null ? run.final_status : style('bad', 'blocked');
  const facts = dispatchFacts(run, trajectory);
  const cut = run.timed_out === true ? `its timeout${limitOf(run)} ended it` : null;
  return [
    `  ${style('bold', `sub-agent ${cleanText(run.name)}`)}  ${status}${facts === '' ? '' : `  ${style('dim', facts)}`}`,
    ...(blocked === null ? [] : labelled(style('bad', 'refused'), textLines(blocked, width, true), 4)),
    ...(cut === null ? [] : labelled(style('bad', 'cut'), textLines(cut, width, true), 4)),
    ...labelled('input', textLines(run.input, width, options.full), 4),
    ...run.tool_calls.flatMap((call) => callLines(call, trajectory, options, style)),
    // One that was refused had nothing to say.
    ...(blocked === null ? labelled('output', textLines(run.output ?? NONE, width, options.full), 4) : []),
  ];
}

/** Who dispatched it with which call, how long it took and what it used, as far as it is known. */
function dispatchFacts(run: SubAgentRun, trajectory: Trajectory): string {
  const { started_at_ms: started = 0, ended_at_ms: ended = 0, dispatch_call_index: index } = run;
  const by = (run.parent ?? null) === null ? '' : ` of ${cleanText(run.parent ?? '')}`;
  return [
    ...(typeof index === 'number' ? [`by call #${index}${by}`] : by === '' ? [] : [by.trim()]),
    ...(started === 0 ? [] : [`after ${formatDuration(Math.max(0, started - trajectory.started_at_ms))}`]),
    ...(ended > started ? [`took ${formatDuration(ended - started)}`] : []),
    ...(run.usage.total === null || run.usage.total === 0 ? [] : [`${formatCount(run.usage.total)} tokens`]),
  ].join(' · ');
}

function limitOf({ timeout_ms: limit }: SubAgentRun): string {
  return typeof limit === 'number' ? ` of ${formatDuration(limit)}` : '';
}

function endLines(trajectory: Trajectory, options: ShowOptions, style: Style): string[] {
  const width = options.width - LABEL_WIDTH - 2;
  const reason = trajectory.final_status_reason === null ? '' : `: ${trajectory.final_status_reason}`;
  const last = trajectory.messages.findLast((message) => message.role === 'assistant');
  const said = last !== undefined && last.content === trajectory.answer;
  const unmatched = trajectory.unmatched_calls.map((call) => `#${call.index} ${call.tool}`).join(', ');
  return [
    style('dim', 'End'),
    ...labelled('status', textLines(`${trajectory.final_status}${reason}`, width, true), 2),
    // The answer was just read as the last message; it is repeated only where it is another text.
    ...(said ? [] : labelled('answer', textLines(trajectory.answer ?? NONE, width, options.full), 2)),
    ...(trajectory.end_state === null
      ? []
      : labelled('state', jsonLines(trajectory.end_state, width, options.full), 2)),
    ...(unmatched === '' ? [] : labelled('no mock', textLines(unmatched, width, true), 2)),
    ...(trajectory.artifacts ?? []).flatMap((artifact) =>
      labelled('artifact', artifactLines(artifact, width, options), 2),
    ),
    ...(trajectory.stderr === undefined
      ? []
      : labelled('stderr', lastLines(trajectory.stderr, width, options.full), 2)),
  ];
}

function artifactLines({ id, name, parts }: AgentArtifact, width: number, options: ShowOptions): string[] {
  const lines = parts.flatMap((part) => {
    if (part.kind === 'text') return textLines(part.text, width, options.full);
    if (part.kind === 'data') return jsonLines(part.data, width, options.full);
    const size = part.bytes === null ? (part.url ?? 'no address') : `${formatCount(part.bytes)} bytes`;
    return textLines(`file ${part.filename ?? 'without a name'} (${part.media_type}), ${size}`, width, options.full);
  });
  return [...textLines(name ?? id, width, true), ...lines];
}

function scoreLines(scores: readonly Score[], options: ShowOptions, style: Style): string[] {
  if (scores.length === 0) return [];
  const order = (score: Score): number => (score.violation ? 0 : score.deciding ? (score.passed === true ? 2 : 1) : 3);
  const sorted = [...scores].sort((a, b) => order(a) - order(b) || (a.scorer < b.scorer ? -1 : 1));
  const width = Math.max(...sorted.map((score) => score.scorer.length));
  return [
    style('dim', 'Scores (deciding first)'),
    ...sorted.flatMap((score) => {
      const reason = score.reason === '' ? [] : textLines(score.reason, options.width - 6, options.full);
      return [
        `  ${markOf(score, style)}  ${score.scorer.padEnd(width)}  ${valueOf(score)}${roleOf(score, style)}`.trimEnd(),
        // What passed needs no explanation, unless all is asked for.
        ...(score.passed === true && !options.full ? [] : reason.map((line) => `      ${line}`)),
      ];
    }),
  ];
}

function markOf(score: Score, style: Style): string {
  if (score.passed === null) return style('warn', score.value === null ? 'null' : '  – ');
  return score.passed ? style('good', 'pass') : style('bad', 'FAIL');
}

function valueOf(score: Score): string {
  return score.value === null ? 'not scored' : score.value.toFixed(3);
}

function roleOf(score: Score, style: Style): string {
  if (score.violation) return `  ${style('bad', 'safety violation')}`;
  return score.deciding ? '  deciding' : '';
}

function verdictLines(verdicts: readonly ShownVerdict[], options: ShowOptions, style: Style): string[] {
  if (verdicts.length === 0) return [];
  const width = options.width - LABEL_WIDTH - 4;
  return [
    style('dim', 'Judge'),
    ...verdicts.flatMap((verdict) => [
      `  ${style('bold', verdict.dimension)}  ${verdict.model ?? 'model not named'}${verdict.vote > 0 ? `  vote ${verdict.vote + 1}` : ''}${verdict.cached_from ? `  from the cache, paid for by ${verdict.cached_from}` : ''}`,
      ...(verdict.unscored_cause === null
        ? labelled('verdict', jsonLines(verdict.parsed, width, options.full), 4)
        : labelled(style('warn', 'unscored'), [verdict.unscored_cause], 4)),
      ...(verdict.reason === null ? [] : labelled('reason', textLines(verdict.reason, width, options.full), 4)),
      ...(verdict.raw_reply === null || (verdict.unscored_cause === null && !options.full)
        ? []
        : labelled('reply', textLines(verdict.raw_reply, width, options.full), 4)),
    ]),
  ];
}
