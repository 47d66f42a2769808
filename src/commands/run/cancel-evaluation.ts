import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, UserError } from '../../core/errors.ts';
import { type EvaluationRow, findEvaluation, notifyCancel } from '../../db/evaluations.ts';
import { loadProgress } from '../../db/missing-trials.ts';
import { whileTransient } from '../../db/transient.ts';
import type { CommandContext } from '../context.ts';
import { endedTrials } from '../stored/eta.ts';
import { resolveEvaluation } from '../stored/resolve-id.ts';
import type { Session } from '../session.ts';
import { settleEvaluation } from '../stored/settle.ts';
import { deletedMeanwhile } from './deleted-meanwhile.ts';
import { cancelWorkflow } from './tell-workflow.ts';

/** How long a cancellation waits, and who carries it out. */
export interface CancelPatience {
  /** Milliseconds to wait for the workers that there are; then, with `ownWorker`, one is started here. */
  forWorkers: number;
  /** Milliseconds to wait in all. */
  inAll: number;
  /** Start a worker in this process when no other does the work. */
  ownWorker: boolean;
}

const LOOK_MS = 200;

/** Cancels an evaluation and says what is kept. */
export async function cancelEvaluation(
  context: CommandContext,
  session: Session,
  id: string,
  flags: { json?: boolean },
): Promise<void> {
  const row = await resolveEvaluation(session.db, id);
  if (row.status !== 'running' && row.status !== 'paused') {
    await say(context, session, row, flags, `is ${row.status} already`);
    return;
  }
  // A shared Temporal has workers of its own, and this folder may lack what its suites need.
  const ownWorker = session.stack.embedded.temporal;
  const ended = await bringToRest(context, session, row, { forWorkers: 5_000, inAll: 60_000, ownWorker });
  await say(context, session, ended, flags, ended.status);
}

/**
 * Ends the work on an evaluation and waits until it has come to rest; what is finished is kept, numbers and gates over
 * it are stored. One without a workflow is ended here.
 * @throws UserError (exit 4) when nobody has carried the request out in time
 */
export async function bringToRest(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  patience: CancelPatience,
): Promise<EvaluationRow> {
  const runs = await cancelWorkflow(session.client, row.id);
  await notifyCancel(session.db, row.id);
  if (!runs) return settleEvaluation(session.db, row, { status: 'canceled', stop: null });
  const byOthers = await waitForEnd(session, row.id, patience.forWorkers);
  if (byOthers !== null) return byOthers;
  const left = patience.inAll - patience.forWorkers;
  if (!patience.ownWorker) {
    context.stderr(`waiting for a worker to end ${row.id}, at most ${Math.round(left / 1_000)} s\n`);
    return (await waitForEnd(session, row.id, left)) ?? giveUp(row.id, patience);
  }
  // Nobody works on it: the request is carried out here. Trials are not: the workflow sees the cancellation first.
  const { startOwnWorker } = await import('../stack/own-worker.ts');
  const worker = await startOwnWorker(context, session);
  try {
    return (await Promise.race([waitForEnd(session, row.id, left), worker.failed])) ?? giveUp(row.id, patience);
  } finally {
    await worker.stop();
  }
}

function giveUp(id: string, patience: CancelPatience): never {
  throw new UserError(`${id} was asked to end, but no worker did so within ${Math.round(patience.inAll / 1_000)} s.`, {
    exitCode: EXIT.infrastructure,
    hint: `The request stands: it ends as soon as a worker runs (\`assay worker\`). \`assay status ${id}\` shows it.`,
  });
}

async function waitForEnd(session: Session, id: string, timeoutMs: number): Promise<EvaluationRow | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const row = await whileTransient(() => findEvaluation(session.db, id));
    if (row === null) throw deletedMeanwhile(id, 'canceled');
    if (row.status !== 'running' && row.status !== 'paused') return row;
    if (performance.now() >= deadline) return null;
    await sleep(LOOK_MS);
  }
}

async function say(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  flags: { json?: boolean },
  what: string,
): Promise<void> {
  const progress = await loadProgress(session.db, row.id);
  const kept = endedTrials(progress);
  if (flags.json === true) {
    const value = { evaluation_id: row.id, status: row.status, trials: { planned: progress.planned, ended: kept } };
    context.stdout(`${JSON.stringify(value, null, 2)}\n`);
    return;
  }
  const next = kept < progress.planned ? `  → assay resume ${row.id}    go on later\n` : '';
  context.stdout(
    `${row.id} ${what}: ${kept} of ${progress.planned} trials are finished and kept\n${next}  → assay report ${row.id}    the report over what is finished\n`,
  );
}
