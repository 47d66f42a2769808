import { type Command, Option } from 'commander';
import { EVALUATION_STATUSES, type EvaluationStatus } from '../../core/evaluation.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { whole } from '../flag-parsers.ts';
import { tableWidth } from '../table-width.ts';

interface ListFlags {
  suite?: string;
  status?: EvaluationStatus;
  schedule?: string;
  limit: number;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay list                            the newest 20 evaluations
  $ assay list --suite ops --status completed --limit 50
  $ assay list --json | jq -r '.[].evaluation_id'

Exit codes: 0 shown, 2 wrong usage, 4 Postgres cannot be used.`;

/** `assay list`: evaluations, newest first. */
export function registerList(program: Command, context: CommandContext): void {
  program
    .command('list')
    .description('list evaluations, newest first')
    .option('--suite <name>', 'only of this suite')
    .addOption(new Option('--status <status>', 'only with this status').choices([...EVALUATION_STATUSES]))
    .option('--schedule <name>', 'only started by this schedule')
    .option('--limit <n>', 'at most this many', whole(1), 20)
    .option('--json', 'print an array of JSON objects')
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) =>
      withDatabase(context, async ({ db }) => {
        const entries = await loadEntries(db, flags);
        if (flags.json === true) context.stdout(`${JSON.stringify(entries.map(entryJson), null, 2)}\n`);
        else context.stdout(await listText(entries, flags, tableWidth(context)));
      }),
    );
}

/** One evaluation of the list. */
interface ListEntry {
  row: EvaluationRow;
  ended: number;
  completionRate: number | null;
}

async function loadEntries(db: Db, flags: ListFlags): Promise<ListEntry[]> {
  const [{ listEvaluations }, { countEnded, loadMetricOf }] = await Promise.all([
    import('../../db/evaluations.ts'),
    import('../../db/metric-values.ts'),
  ]);
  const rows = await listEvaluations(db, {
    limit: flags.limit,
    ...(flags.suite === undefined ? {} : { suite: flags.suite }),
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(flags.schedule === undefined ? {} : { scheduleId: flags.schedule }),
  });
  const ids = rows.map((row) => row.id);
  const [rates, ended] = await Promise.all([loadMetricOf(db, 'completion_rate', ids), countEnded(db, ids)]);
  return rows.map((row) => ({ row, ended: ended.get(row.id) ?? 0, completionRate: rates.get(row.id) ?? null }));
}

function entryJson({ row, ended, completionRate }: ListEntry): unknown {
  return {
    evaluation_id: row.id,
    suite: row.suite,
    kind: row.kind,
    status: row.status,
    labels: row.labels,
    schedule: row.schedule_id,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    cases: row.cases,
    trials: { planned: row.planned_trials, ended },
    completion_rate: completionRate,
    exit_code: row.exit_code,
    verdict: row.verdict,
  };
}

async function listText(entries: readonly ListEntry[], flags: ListFlags, width: number): Promise<string> {
  if (entries.length === 0) {
    if (flags.schedule !== undefined) {
      return 'no evaluation fits the filter; `assay schedule list` says whether the schedule fired, and why it failed\n';
    }
    const filtered = flags.suite !== undefined || flags.status !== undefined;
    return filtered ? 'no evaluation fits the filter\n' : 'no evaluations yet; start one with `assay run SUITE`\n';
  }
  const { listTable } = await import('../../report/list-table.ts');
  const rows = entries.map(({ row, ended, completionRate }) => ({
    evaluation_id: row.id,
    suite: row.suite,
    status: row.status,
    created_at: row.created_at,
    ended,
    planned: row.planned_trials,
    completion_rate: completionRate,
    verdict: row.verdict,
  }));
  return `${listTable(rows, width).join('\n')}\n`;
}
