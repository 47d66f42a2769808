import { startOwnWorker } from '../stack/own-worker.ts';
import { UserError } from '../../core/errors.ts';
import type { Suite } from '../../core/suite.ts';
import { baselinesOf } from '../../db/baselines.ts';
import { countMissing } from '../../db/evaluation-cases.ts';
import { type EvaluationRow, findEvaluation, reopenEvaluation, setPaused } from '../../db/evaluations.ts';
import { reopenTrials } from '../../db/reopen-trials.ts';
import { replaceSnapshot } from '../../db/restart-evaluation.ts';
import { bringToRest } from './cancel-evaluation.ts';
import { checkSnapshot, type Replacement, type SnapshotFlags } from './check-snapshot.ts';
import { movedDefinition, noteMoved } from './moved-places.ts';
import { conclude } from './conclude.ts';
import { printReport } from './print-report.ts';
import type { CommandContext } from '../context.ts';
import { detach } from './detach.ts';
import { ExitSignal } from '../exit-signal.ts';
import { resolveEvaluation } from '../stored/resolve-id.ts';
import type { Session } from '../session.ts';
import { reconcile } from './start-evaluation.ts';

/** Flags of `resume` and `retry`. */
export interface ContinueFlags extends SnapshotFlags {
  budgetUsd?: number;
  concurrency?: number;
  worker: boolean;
  /** `retry` alone; default true. */
  judgeCache?: boolean;
  detach?: boolean;
  json?: boolean;
}

/** Goes on with what an evaluation lacks: a running one is joined, a complete one reported. */
export async function resumeEvaluation(
  context: CommandContext,
  session: Session,
  id: string,
  flags: ContinueFlags,
): Promise<void> {
  const row = await reconcile(session.client, session.db, await resolveEvaluation(session.db, id));
  const { replacement, suite } = await checkSnapshot(context, session.db, row, flags);
  if (replacement !== null) {
    await replace(context, session, row, replacement, flags);
    await goOn(context, session, row, flags, null);
  } else if (row.status === 'completed' && (await countMissing(session.db, row.id)) === 0) {
    await reportComplete(context, session, row, flags);
  } else if (row.status === 'running' || row.status === 'paused') {
    if (suite !== null) noteMoved(context, row, suite);
    await join(context, session, row, flags);
  } else {
    await goOn(context, session, row, flags, suite);
  }
}

/** Runs again the trials that ended in one of these statuses, and what is missing. */
export async function retryEvaluation(
  context: CommandContext,
  session: Session,
  id: string,
  flags: ContinueFlags & { failed?: boolean },
): Promise<void> {
  const row = await reconcile(session.client, session.db, await resolveEvaluation(session.db, id));
  if (row.status === 'running' || row.status === 'paused') {
    throw new UserError(`Evaluation ${row.id} is ${row.status}.`, {
      hint: `Wait for its end (\`assay resume ${row.id}\` follows it), or end it: \`assay cancel ${row.id}\`.`,
    });
  }
  await refuseBaseline(session, row, 'retry would change what others are compared with');
  const { replacement, suite } = await checkSnapshot(context, session.db, row, flags);
  if (replacement !== null) await replace(context, session, row, replacement, flags);
  const reopened = await reopenTrials(session.db, row.id, { failed: flags.failed === true });
  const missing = await countMissing(session.db, row.id);
  if (missing === 0) {
    const more = flags.failed === true ? '' : '; --failed runs the failed ones again';
    context.stderr(`nothing to retry: every trial has a verdict${more}\n`);
    await reportComplete(context, session, row, flags);
  }
  context.stderr(`${reopened} ${reopened === 1 ? 'trial' : 'trials'} opened again, ${missing} to run\n`);
  await goOn(context, session, row, flags, suite);
}

async function refuseBaseline(session: Session, row: EvaluationRow, why: string): Promise<void> {
  const [pinned] = await baselinesOf(session.db, row.id);
  if (pinned === undefined) return;
  throw new UserError(`Evaluation ${row.id} is the baseline ${pinned.label} of ${row.suite}: ${why}.`, {
    hint: `Start another one (\`assay run ${row.suite_path} --new\`), or pin another baseline first.`,
  });
}

async function replace(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  { wanted, changes }: NonNullable<Replacement>,
  flags: ContinueFlags,
): Promise<void> {
  await refuseBaseline(session, row, 'rerunning would change what others are compared with');
  if (row.status === 'running' || row.status === 'paused') {
    context.stderr(`${row.id} is ${row.status}: its work is ended before its cases are replaced\n`);
    await bringToRest(context, session, row, { forWorkers: 0, inAll: 60_000, ownWorker: flags.worker });
  }
  await replaceSnapshot(session.db, wanted, { everything: changes.everything });
  const missing = await countMissing(session.db, row.id);
  context.stderr(`${missing} of ${(await rowOf(session, row)).planned_trials} trials to run\n`);
}

/** Opens an ended evaluation for more work and brings it to its end. Addresses are those of `suite`, where it is given. */
async function goOn(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  flags: ContinueFlags,
  suite: Suite | null,
): Promise<void> {
  const moved = suite === null ? {} : movedDefinition(context, row, suite);
  await reopenEvaluation(session.db, row.id, { ...optionsOf(flags), ...moved });
  await bringToEnd(context, session, await rowOf(session, row), flags);
}

/** Follows an evaluation that runs already; new options reach it where it runs. */
async function join(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  flags: ContinueFlags,
): Promise<void> {
  if (flags.budgetUsd !== undefined) {
    throw new UserError(`Evaluation ${row.id} is ${row.status}: its budget can be raised once it has stopped.`, {
      hint: `\`assay cancel ${row.id}\`, then \`assay resume ${row.id} --budget-usd …\``,
    });
  }
  const { tellWorkflow } = await import('./tell-workflow.ts');
  if (row.status === 'paused') {
    await setPaused(session.db, row.id, false);
    await tellWorkflow(session.client, row.id, 'pause', false);
    context.stderr(`${row.id} was paused; it goes on\n`);
  }
  if (flags.concurrency !== undefined) {
    const { setConcurrency } = await import('../../db/set-concurrency.ts');
    await setConcurrency(session.db, row.id, flags.concurrency);
    await tellWorkflow(session.client, row.id, 'setConcurrency', flags.concurrency);
  }
  await bringToEnd(context, session, await rowOf(session, row), flags);
}

async function bringToEnd(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  flags: ContinueFlags,
): Promise<void> {
  if (flags.detach === true) await detach(context, session, row);
  else {
    const worker = flags.worker ? startOwnWorker(context, session) : null;
    await conclude(context, session, row, { worker, json: flags.json === true });
  }
}

async function reportComplete(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  flags: ContinueFlags,
): Promise<never> {
  context.stderr(`${row.id} is complete: nothing is missing\n`);
  throw new ExitSignal(await printReport(context, session, row, { json: flags.json === true }));
}

function optionsOf(flags: ContinueFlags): { budgetUsd?: number; concurrency?: number; judgeCache?: boolean } {
  return {
    ...(flags.judgeCache === false ? { judgeCache: false } : {}),
    ...(flags.budgetUsd === undefined ? {} : { budgetUsd: flags.budgetUsd }),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
  };
}

async function rowOf(session: Session, row: EvaluationRow): Promise<EvaluationRow> {
  return (await findEvaluation(session.db, row.id)) ?? row;
}
