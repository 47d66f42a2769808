import type { Command } from 'commander';
import type { EvaluationRow } from '../db/evaluations.ts';
import type { Progress } from '../db/missing-trials.ts';
import { wrap } from '../report/align.ts';
import { formatDuration, plural } from '../report/format.ts';
import type { CommandContext } from './context.ts';
import { type Database, withDatabase } from './database.ts';
import { endedTrials, secondsLeft } from './eta.ts';
import { tableWidth } from './table-width.ts';

const HELP = `
Examples:
  $ assay status                          the newest evaluation
  $ assay status ops-20260318             by the beginning of its id
  $ assay status latest --json | jq .eta_s

ID is an evaluation id, an unambiguous beginning of one, or \`latest\`.
Exit codes: 0 shown, 2 no such evaluation, 4 Postgres cannot be used.`;

/** `assay status`: where an evaluation stands, from Postgres; why it stopped and how to go on. */
export function registerStatus(program: Command, context: CommandContext): void {
  program
    .command('status')
    .argument('[id]', 'evaluation; default: the newest')
    .description('show where an evaluation stands: progress, time left, why it stopped, how to go on')
    .option('--json', 'print it as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: { json?: boolean }) =>
      withDatabase(context, async (database) => {
        const status = await readStatus(database, id);
        const text =
          flags.json === true
            ? `${JSON.stringify(statusJson(status), null, 2)}\n`
            : statusText(status, tableWidth(context));
        context.stdout(text);
      }),
    );
}

/** Where an evaluation stands. */
export interface Status {
  row: EvaluationRow;
  progress: Progress;
  /** Milliseconds since the start; null before it. */
  ageMs: number | null;
  /** null: Temporal is not running or does not answer. */
  temporal: 'up' | null;
}

async function readStatus(database: Database, id: string | undefined): Promise<Status> {
  const [{ newestEvaluation, resolveEvaluation }, { loadProgress }, { peekTemporal }, { reconcile }] =
    await Promise.all([
      import('./resolve-id.ts'),
      import('../db/missing-trials.ts'),
      import('./peek-temporal.ts'),
      import('./start-evaluation.ts'),
    ]);
  const { db, config } = database;
  const found = id === undefined ? await newestEvaluation(db) : await resolveEvaluation(db, id);
  const goesOn = found.status === 'running' || found.status === 'paused';
  // An evaluation whose workflow is gone must not look as if it were running.
  const seen = goesOn ? await peekTemporal(config, (client) => reconcile(client, db, found)) : null;
  const row = seen ?? found;
  return {
    row,
    progress: await loadProgress(db, row.id),
    ageMs: row.started_at === null ? null : Date.now() - row.started_at.getTime(),
    temporal: seen === null ? null : 'up',
  };
}

function eta(status: Status): number | null {
  if (status.row.status !== 'running') return null;
  return secondsLeft(status.progress, (status.ageMs ?? 0) / 1_000);
}

function statusJson(status: Status): unknown {
  const { row, progress } = status;
  const { planned, recent: _recent, ...counts } = progress;
  const seconds = eta(status);
  return {
    evaluation_id: row.id,
    suite: row.suite,
    status: row.status,
    stop: row.stop_kind === null ? null : { kind: row.stop_kind, message: row.stop_message },
    trials: { planned, ended: endedTrials(progress), ...counts },
    eta_s: seconds === null ? null : Math.ceil(seconds),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    exit_code: row.exit_code,
    verdict: row.verdict,
    next: nextCommands(status).map((step) => step.command),
  };
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
    `  suite     ${row.suite}: ${plural(row.cases, 'case')}, agent ${row.agent_model ?? row.agent_version}`,
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
  const { row } = status;
  if (row.stop_message !== null) return [`  stopped   ${row.stop_message}`, ...verdictLine(row)];
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
  return row.verdict === null ? [] : [`  verdict   ${row.verdict} (exit code ${row.exit_code})`];
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
