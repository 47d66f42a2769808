import { formatProblem, UserError } from '../../core/errors.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import { loadSuite } from '../../datasets/load-suite.ts';
import { parseFilter, selectCases } from '../../datasets/select-cases.ts';
import { createEvaluation, type NewEvaluation, trialsOf } from '../../db/create-evaluation.ts';
import { type EvaluationRow, findEvaluation, reopenEvaluation } from '../../db/evaluations.ts';
import { joinEvaluation } from '../../db/join-evaluation.ts';
import { newEvaluation } from '../../db/new-evaluation.ts';
import { setConcurrency } from '../../db/set-concurrency.ts';
import { COMMAND_PATIENCE_MS } from '../../db/patience.ts';
import { whileTransient } from '../../db/transient.ts';
import { plural } from '../../report/format.ts';
import type { RunningWorker } from '../../worker.ts';
import type { CommandContext } from '../context.ts';
import { conclude } from './conclude.ts';
import { detach } from './detach.ts';
import { movedDefinition, noteMoved } from './moved-places.ts';
import { printDryRun } from './dry-run.ts';
import { preloadWorker, startOwnWorker } from '../stack/own-worker.ts';
import { requireEndpoint } from './require-endpoint.ts';
import { requireScorers } from './require-scorers.ts';
import type { RunFlags } from './run-flags.ts';
import { type Session, withSession } from '../session.ts';
import { undecidedWarning } from '../undecided-cases.ts';

/** Runs a suite to its report. Sets the exit code through `ExitSignal`. */
export async function runSuite(context: CommandContext, suiteFile: string, flags: RunFlags): Promise<void> {
  const loaded = await loadSuite(suiteFile, { env: context.env, cwd: context.cwd });
  for (const problem of [...loaded.problems, ...undecidedWarning(loaded, suiteFile)]) {
    context.stderr(`${formatProblem(problem)}\n`);
  }
  const filter = { ...parseFilter(flags.filter ?? []), ...(flags.limit === undefined ? {} : { limit: flags.limit }) };
  const cases = selectCases(loaded.cases, filter);
  const wanted = newEvaluation(loaded, {
    env: context.env,
    now: new Date(),
    cases,
    filters: { ...filter } as Json,
    labels: parseLabels(flags.label ?? []),
    ...optionsOf(flags),
  });
  await requireScorers(context, wanted);
  if (flags.dryRun === true) {
    printDryRun(context, wanted, flags.json === true);
    return;
  }
  requireEndpoint(context, wanted);
  const worksHere = flags.worker && flags.detach !== true;
  let worker: Promise<RunningWorker> | null = null;
  const work = async (session: Session, stop: AbortSignal): Promise<void> => {
    const row = await stored(context, session, wanted, flags).catch(async (error: unknown) => {
      await worker?.then((one) => one.stop()).catch(() => undefined);
      throw error;
    });
    // Nothing more is begun after a Ctrl-C: nobody follows it.
    stop.throwIfAborted();
    if (flags.detach === true) return detach(context, session, row);
    return conclude(context, session, row, { worker, json: flags.json === true });
  };
  const running = withSession(context, work, (opening, session) => {
    if (worksHere) worker = startOwnWorker(context, opening, session);
  });
  if (worksHere) preloadWorker();
  await running;
}

/** Where Postgres goes away in the middle of a step, it is repeated: each one can be. */
async function stored(...args: Parameters<typeof joinOrCreate>): Promise<EvaluationRow> {
  return whileTransient(() => joinOrCreate(...args), COMMAND_PATIENCE_MS);
}

function optionsOf(flags: RunFlags): Partial<Parameters<typeof newEvaluation>[1]> {
  return {
    ...(flags.id === undefined ? {} : { id: checkId(flags.id) }),
    ...(flags.trials === undefined ? {} : { trials: flags.trials }),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    ...(flags.budgetUsd === undefined ? {} : { budgetUsd: flags.budgetUsd }),
    ...(flags.failFast === undefined ? {} : { failFast: flags.failFast }),
    ...(flags.baseline === undefined ? {} : { baselineLabel: flags.baseline }),
    judgeCache: flags.judgeCache,
  };
}

export function checkId(id: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]{0,99}$/u.test(id)) return id;
  throw new UserError(`--id "${id}" is not usable`, { hint: 'use up to 100 letters, digits, `-`, `_` and `.`' });
}

export function parseLabels(parts: string[]): Record<string, string> {
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.indexOf('=');
      if (at < 1) throw new UserError(`--label "${part}" is not understood`, { hint: 'write key=value' });
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

async function joinOrCreate(
  context: CommandContext,
  session: Session,
  wanted: NewEvaluation,
  flags: RunFlags,
): Promise<EvaluationRow> {
  const { reconcile } = await import('./start-evaluation.ts');
  const planned = wanted.cases.reduce((sum, one) => sum + trialsOf(one, wanted.suite), 0);
  const named = flags.id === undefined ? null : await findEvaluation(session.db, flags.id);
  if (named !== null) requireSame(named, wanted, planned);
  const joins = flags.new !== true && flags.id === undefined;
  const found = named ?? (joins ? await joinEvaluation(session.db, wanted) : null);
  if (found === null) {
    // What another command has stored under this id in the meantime stays, and may be another suite.
    if (!joins) await createEvaluation(session.db, wanted);
    const row = (await findEvaluation(session.db, wanted.id)) as EvaluationRow;
    requireSame(row, wanted, planned);
    context.stderr(`evaluation ${wanted.id}: ${plural(wanted.cases.length, 'case')}, ${plural(planned, 'trial')}\n`);
    return row;
  }
  const row = await reconcile(session.client, session.db, found);
  context.stderr(`joining evaluation ${row.id} (same suite, data and agent; --new starts another)\n`);
  await applyFlags(context, session, row, wanted, flags);
  return (await findEvaluation(session.db, row.id)) as EvaluationRow;
}

/**
 * What the flags of this run mean for an evaluation that exists.
 * @throws UserError for flags that cannot reach work that is under way: they are never dropped in silence.
 */
async function applyFlags(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  wanted: NewEvaluation,
  flags: RunFlags,
): Promise<void> {
  const options = {
    ...(flags.budgetUsd === undefined ? {} : { budgetUsd: flags.budgetUsd }),
    ...(flags.failFast === undefined ? {} : { failFast: flags.failFast }),
    ...(flags.baseline === undefined ? {} : { baselineLabel: flags.baseline }),
    ...(flags.label === undefined ? {} : { labels: { ...row.labels, ...wanted.suite.labels } }),
    ...(flags.judgeCache ? {} : { judgeCache: false }),
  };
  if (row.status === 'stopped' || row.status === 'canceled') {
    await reopenEvaluation(session.db, row.id, {
      ...options,
      ...movedDefinition(context, row, wanted.suite),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    });
    return;
  }
  noteMoved(context, row, wanted.suite);
  const fixed = [
    ...(flags.budgetUsd === undefined || flags.budgetUsd === row.budget_usd ? [] : ['--budget-usd']),
    ...(flags.failFast === undefined || flags.failFast === row.fail_fast ? [] : ['--fail-fast']),
    ...(flags.baseline === undefined || flags.baseline === row.baseline_label ? [] : ['--baseline']),
    ...(flags.label === undefined || canonicalJson(options.labels) === canonicalJson(row.labels) ? [] : ['--label']),
    ...(flags.judgeCache || !row.judge_cache ? [] : ['--no-judge-cache']),
  ];
  if (fixed.length > 0) {
    throw new UserError(`evaluation ${row.id} is ${row.status}: ${fixed.join(', ')} cannot change it now`, {
      hint: `join it without them, add --new for another evaluation, or \`assay cancel ${row.id}\` and \`assay resume ${row.id} --budget-usd …\``,
    });
  }
  if (flags.concurrency !== undefined && flags.concurrency !== row.concurrency) {
    const { tellWorkflow } = await import('./tell-workflow.ts');
    await setConcurrency(session.db, row.id, flags.concurrency);
    await tellWorkflow(session.client, row.id, 'setConcurrency', flags.concurrency);
  }
}

function requireSame(row: EvaluationRow, wanted: NewEvaluation, planned: number): void {
  const before = [row.suite_hash, row.data_hash, row.agent_hash, row.planned_trials];
  const after = [wanted.hashes.suite, wanted.hashes.data, wanted.hashes.agent, planned];
  if (canonicalJson(before) === canonicalJson(after)) return;
  throw new UserError(`evaluation ${row.id} exists, with another suite, data or agent`, {
    hint: `choose another --id, or see \`assay resume ${row.id}\` for what changed`,
  });
}
