import type { Command } from 'commander';
import { nearest } from '../../core/did-you-mean.ts';
import { UserError } from '../../core/errors.ts';
import { MIN_COVERAGE } from '../../core/coverage.ts';
import type { BaselineRow } from '../../db/baselines.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';

interface SetFlags {
  label: string;
  note?: string;
  force?: boolean;
  json?: boolean;
}

const HELP = `
A baseline is a pinned evaluation of a suite under a label; \`run\`, \`gate\` and the regression gate compare with it.
Comparing never moves it; only \`baseline set\` does.

Examples:
  $ assay baseline set latest --note 'release 2.3'
  $ assay baseline set ops-20260318 --label release-2
  $ assay baseline show ops
  $ assay baseline list

Exit codes: 0 done, 2 no such evaluation, or one that cannot be a baseline, 4 Postgres cannot be used.`;

/** `assay baseline set`, `show` and `list`. */
export function registerBaseline(program: Command, context: CommandContext): void {
  const baseline = program
    .command('baseline')
    .description('pin evaluations to compare with')
    .addHelpText('after', HELP);
  baseline
    .command('set')
    .argument('<id>', 'evaluation')
    .description('pin an evaluation as the baseline of its suite')
    .option('--label <label>', 'label of the baseline', 'main')
    .option('--note <text>', 'why, for those who read it later')
    .option('--force', 'also when it is incomplete or lacks coverage')
    .option('--json', 'print the baseline as one JSON object')
    .action(async (id: string, flags: SetFlags) =>
      withDatabase(context, async ({ db }) => pin(context, db, id, flags)),
    );
  baseline
    .command('show')
    .argument('<suite>', 'name of the suite')
    .description('show the baseline of a suite')
    .option('--label <label>', 'label of the baseline', 'main')
    .option('--json', 'print it as one JSON object')
    .action(async (suite: string, flags: { label: string; json?: boolean }) =>
      withDatabase(context, async ({ db }) => show(context, db, suite, flags)),
    );
  baseline
    .command('list')
    .description('list all baselines')
    .option('--json', 'print an array of JSON objects')
    .action(async (flags: { json?: boolean }) => withDatabase(context, async ({ db }) => list(context, db, flags)));
}

async function pin(context: CommandContext, db: Db, id: string, flags: SetFlags): Promise<void> {
  const [{ resolveEvaluation }, { findBaseline, setBaseline }, { loadEvaluationResult }] = await Promise.all([
    import('../stored/resolve-id.ts'),
    import('../../db/baselines.ts'),
    import('../../db/results.ts'),
  ]);
  if (!/^[\w.-]{1,60}$/.test(flags.label)) {
    throw new UserError(`--label "${flags.label}" is not usable.`, {
      hint: 'Use up to 60 letters, digits, `-`, `_` and `.`.',
    });
  }
  const row = await resolveEvaluation(db, id);
  const stored = await loadEvaluationResult(db, row.id);
  const counts = stored?.result.counts ?? null;
  const objection = objectionTo(row, counts === null ? null : counts.passed + counts.failed);
  if (stored === null) throw refused(row, objection ?? 'it has no result');
  if (objection !== null) {
    if (flags.force !== true) throw refused(row, objection);
    context.stderr(`warning: pinned although ${objection}\n`);
  }
  const before = await findBaseline(db, row.suite, flags.label);
  await setBaseline(db, { suite: row.suite, label: flags.label, evaluationId: row.id, note: flags.note ?? null });
  const set = await findBaseline(db, row.suite, flags.label);
  if (flags.json === true && set !== null) {
    context.stdout(`${JSON.stringify(baselineJson(set), null, 2)}\n`);
    return;
  }
  const was = before === null || before.evaluation_id === row.id ? '' : ` (before: ${before.evaluation_id})`;
  context.stdout(`baseline ${flags.label} of ${row.suite}: ${row.id}${was}\n`);
}

/**
 * Why an evaluation should not be compared with; null when nothing speaks against it.
 * @param scored trials with a verdict; null without a result
 */
export function objectionTo(
  row: Pick<EvaluationRow, 'status' | 'planned_trials' | 'failures_rerun'>,
  scored: number | null,
): string | null {
  if (row.status !== 'completed') return `it is ${row.status}, not completed`;
  if (row.failures_rerun > 0) {
    return `${row.failures_rerun} of its failed trials were run again (retry --failed), so it looks better than the agent is`;
  }
  if (scored === null) return 'it has no result';
  if (scored >= MIN_COVERAGE * row.planned_trials) return null;
  const wanted = `${MIN_COVERAGE * 100} %`;
  return `only ${scored} of its ${row.planned_trials} trials have a verdict (${wanted} are needed to compare fairly)`;
}

function refused(row: EvaluationRow, objection: string): UserError {
  const next = row.status === 'completed' ? 'retry' : 'resume';
  const mend =
    row.failures_rerun > 0
      ? `Start another one (\`assay run ${row.suite_path} --new\`)`
      : `\`assay ${next} ${row.id}\` completes it`;
  return new UserError(`Evaluation ${row.id} cannot be a baseline: ${objection}.`, {
    hint: `${mend}; --force pins it as it is.`,
  });
}

async function show(
  context: CommandContext,
  db: Db,
  suite: string,
  flags: { label: string; json?: boolean },
): Promise<void> {
  const { findBaseline, listBaselines } = await import('../../db/baselines.ts');
  const found = await findBaseline(db, suite, flags.label);
  if (found === null) {
    const all = await listBaselines(db);
    const ofSuite = all.filter((one) => one.suite === suite).map((one) => one.label);
    const near = nearest(
      suite,
      all.map((one) => one.suite),
    );
    throw new UserError(`Suite ${suite} has no baseline "${flags.label}".`, {
      hint:
        ofSuite.length > 0
          ? `It has: ${ofSuite.join(', ')}.`
          : near === null || near === suite
            ? '`assay baseline set ID` pins one.'
            : `Did you mean the suite ${near}?`,
    });
  }
  if (flags.json === true) context.stdout(`${JSON.stringify(baselineJson(found), null, 2)}\n`);
  else {
    const note = found.note === null ? '' : `\n  ${found.note}`;
    context.stdout(
      `${found.suite} ${found.label}: ${found.evaluation_id}, set ${found.set_at.toISOString()}${note}\n  → assay show ${found.evaluation_id}\n`,
    );
  }
}

async function list(context: CommandContext, db: Db, flags: { json?: boolean }): Promise<void> {
  const [{ listBaselines }, { loadMetricOf }, { table }, { formatPercent, NONE }, { localMinute }, { cleanText }] =
    await Promise.all([
      import('../../db/baselines.ts'),
      import('../../db/metric-values.ts'),
      import('../../report/align.ts'),
      import('../../report/format.ts'),
      import('../../report/list-table.ts'),
      import('../../report/clean.ts'),
    ]);
  const all = await listBaselines(db);
  if (flags.json === true) {
    context.stdout(`${JSON.stringify(all.map(baselineJson), null, 2)}\n`);
    return;
  }
  if (all.length === 0) {
    context.stdout('no baselines yet; pin one with `assay baseline set ID`\n');
    return;
  }
  const rates = await loadMetricOf(
    db,
    'completion_rate',
    all.map((one) => one.evaluation_id),
  );
  const lines = table(
    [
      { title: 'suite' },
      { title: 'label' },
      { title: 'evaluation' },
      { title: 'completion', align: 'right' },
      { title: 'set' },
      { title: 'note', max: 60 },
    ],
    all.map((one) => [
      cleanText(one.suite),
      one.label,
      one.evaluation_id,
      formatPercent(rates.get(one.evaluation_id) ?? null),
      localMinute(one.set_at),
      one.note === null ? NONE : cleanText(one.note),
    ]),
  );
  context.stdout(`${lines.join('\n')}\n`);
}

function baselineJson(row: BaselineRow): unknown {
  const { suite, label, evaluation_id, note } = row;
  return { suite, label, evaluation_id, pinned_at: row.set_at.toISOString(), note };
}
