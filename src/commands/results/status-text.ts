import type { EvaluationRow } from '../../db/evaluations.ts';
import type { FailingTrials } from '../../db/failing-trials.ts';
import type { Progress } from '../../db/missing-trials.ts';
import { wrap } from '../../report/align.ts';
import { cleanText } from '../../report/clean.ts';
import { failingText } from '../../report/failing-text.ts';
import { formatDuration, plural } from '../../report/format.ts';
import { endedTrials, secondsLeft } from '../stored/eta.ts';

/** Where an evaluation stands. */
export interface Status {
  row: EvaluationRow;
  progress: Progress;
  /** Trials that are tried again, by kind of failure. */
  failing: readonly FailingTrials[];
  /** Milliseconds since the start; null before it. */
  ageMs: number | null;
  /** null: Temporal is not running or does not answer. */
  temporal: 'up' | null;
}

/** Seconds until the last trial; null when it is not running, or nothing has ended lately. */
export function eta(status: Status): number | null {
  if (status.row.status !== 'running') return null;
  return secondsLeft(status.progress, (status.ageMs ?? 0) / 1_000);
}

interface NextCommand {
  command: string;
  what: string;
}

/** What a user can do with an evaluation in this state. */
export function nextCommands({ row, progress, temporal }: Status): NextCommand[] {
  const commands = {
    report: { command: `assay report ${row.id}`, what: 'the whole report' },
    resume: { command: `assay resume ${row.id}`, what: 'go on with what is missing' },
    follow: { command: `assay resume ${row.id}`, what: 'follow it, or go on with it' },
    unpause: { command: `assay unpause ${row.id}`, what: 'let it go on' },
    cancel: { command: `assay cancel ${row.id}`, what: 'end it, keeping what is done' },
    retry: { command: `assay retry ${row.id}`, what: 'run again what has no verdict' },
  };
  switch (row.status) {
    case 'running':
      return [temporal === null ? commands.resume : commands.follow, commands.cancel];
    case 'paused':
      return [commands.unpause, commands.cancel];
    case 'stopped':
    case 'canceled': {
      const budget = row.stop_kind === 'budget' ? ' --budget-usd MORE' : '';
      return [{ command: `${commands.resume.command}${budget}`, what: commands.resume.what }, commands.report];
    }
    case 'completed':
      return progress.unscored + progress.errored > 0 ? [commands.report, commands.retry] : [commands.report];
  }
}

/**
 * A few lines about an evaluation, ending with a newline.
 * @param width columns of the terminal; longer lines but commands are wrapped. Default: no limit.
 */
export function statusText(status: Status, width = Infinity): string {
  const { row, progress } = status;
  const lines = [
    `${row.id}  ${row.status}${timesText(status)}`,
    `  suite     ${cleanText(row.suite)}: ${plural(row.cases, 'case')}, agent ${cleanText(row.agent_model ?? row.agent_version)}`,
    `  trials    ${countsText(progress)}`,
    ...stateLines(status).flatMap((line) => wrapped(line, width)),
    ...nextCommands(status).map((step) => `  → ${step.command}    ${step.what}`),
  ];
  return `${lines.join('\n')}\n`;
}

const LABEL = '  verdict   '.length;

/** A labelled line; what does not fit stands below its text. */
function wrapped(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const texts = wrap(line.slice(LABEL), Math.max(20, width - LABEL));
  return texts.map((text, i) => `${i === 0 ? line.slice(0, LABEL) : ' '.repeat(LABEL)}${text}`);
}

function timesText({ row, ageMs }: Status): string {
  if (ageMs === null) return '';
  const took =
    row.started_at === null || row.finished_at === null
      ? ''
      : `, took ${formatDuration(Math.max(0, row.finished_at.getTime() - row.started_at.getTime()))}`;
  return `  (started ${age(ageMs)} ago${took})`;
}

function stateLines(status: Status): string[] {
  const failing = status.failing.map((one) => `  failing   ${failingText(one)}`);
  return [...endLines(status), ...failing];
}

function endLines(status: Status): string[] {
  const { row } = status;
  if (row.stop_message !== null) return [`  stopped   ${cleanText(row.stop_message)}`, ...verdictLine(row)];
  if (row.status === 'running') {
    // Trials of a killed process still count as running; without Temporal nothing can go on.
    if (status.temporal === null)
      return ['  now       Nothing works on it: Temporal is not running here, or does not answer.'];
    const seconds = eta(status);
    if (seconds !== null) return [`  left      about ${age(seconds * 1_000)}`];
    return ['  left      not known: no trial ended in the last 30 s'];
  }
  return verdictLine(row);
}

function verdictLine(row: EvaluationRow): string[] {
  return row.verdict === null ? [] : [`  verdict   ${cleanText(row.verdict)} (exit code ${row.exit_code})`];
}

function countsText(progress: Progress): string {
  const parts = (['passed', 'failed', 'unscored', 'errored', 'running'] as const)
    .filter((name) => progress[name] > 0 || name === 'passed')
    .map((name) => `${progress[name]} ${name}`);
  return `${endedTrials(progress)} of ${progress.planned} ended: ${parts.join(', ')}`;
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
