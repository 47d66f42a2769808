import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { type Database, withDatabase } from '../database.ts';
import { endedTrials } from '../stored/eta.ts';
import type * as StatusText from './status-text.ts';
import type { Status } from './status-text.ts';
import { tableWidth } from '../table-width.ts';

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
        const [status, text] = await Promise.all([readStatus(database, id), import('./status-text.ts')]);
        if (flags.json === true) context.stdout(`${JSON.stringify(statusJson(status, text), null, 2)}\n`);
        else context.stdout(text.statusText(status, tableWidth(context)));
      }),
    );
}

async function readStatus(database: Database, id: string | undefined): Promise<Status> {
  const [
    { newestEvaluation, resolveEvaluation },
    { loadProgress },
    { loadFailingTrials },
    { peekTemporal },
    { reconcile },
  ] = await Promise.all([
    import('../stored/resolve-id.ts'),
    import('../../db/missing-trials.ts'),
    import('../../db/failing-trials.ts'),
    import('../stack/peek-temporal.ts'),
    import('../run/start-evaluation.ts'),
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
    failing: await loadFailingTrials(db, row.id),
    ageMs: row.started_at === null ? null : Math.max(0, Date.now() - row.started_at.getTime()),
    temporal: seen === null ? null : 'up',
  };
}

function statusJson(status: Status, { eta, nextCommands }: Pick<typeof StatusText, 'eta' | 'nextCommands'>): unknown {
  const { row, progress, failing } = status;
  const { planned, recent: _recent, ...counts } = progress;
  const seconds = eta(status);
  return {
    evaluation_id: row.id,
    suite: row.suite,
    status: row.status,
    stop: row.stop_kind === null ? null : { kind: row.stop_kind, message: row.stop_message },
    trials: { planned, ended: endedTrials(progress), ...counts },
    failing,
    eta_s: seconds === null ? null : Math.ceil(seconds),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    exit_code: row.exit_code,
    verdict: row.verdict,
    next: nextCommands(status).map((step) => step.command),
  };
}
