import { setTimeout as sleep } from 'node:timers/promises';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { findEvaluation } from '../../db/evaluations.ts';
import { loadFailingTrials } from '../../db/failing-trials.ts';
import { loadProgress } from '../../db/missing-trials.ts';
import { whileTransient } from '../../db/transient.ts';
import type { CommandContext } from '../context.ts';
import { deletedMeanwhile } from './deleted-meanwhile.ts';
import { Interrupted } from './interrupted.ts';
import { markLost, startEvaluation, workflowIdOf } from './start-evaluation.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';
import type { Session } from '../session.ts';

/** How often the line on a terminal is drawn anew. */
const POLL_MS = 250;
/** Counting the trials of a large evaluation is work for Postgres, and without a terminal few lines are printed. */
const SELDOM_POLL_MS = 1_000;
const LARGE = 5_000;
const MOST_RESTARTS = 5;

/**
 * Follows an evaluation to its end, showing progress. Returns its row once the status is terminal.
 * @throws Interrupted when `signal` is aborted.
 */
export async function followEvaluation(
  context: CommandContext,
  session: Session,
  id: string,
  options: { signal: AbortSignal; quiet: boolean },
): Promise<EvaluationRow> {
  let ended = watchWorkflow(session, id);
  // Nothing is counted that nobody sees.
  const display = options.quiet ? null : (await import('./display.ts')).createDisplay(context);
  try {
    for (let restarts = 0; ;) {
      const workflow = ended.state();
      const row = await whileTransient(() => findEvaluation(session.db, id));
      if (row === null) throw deletedMeanwhile(id, 'followed');
      if (row.status !== 'running' && row.status !== 'paused') return row;
      if (workflow !== null && workflow !== 'COMPLETED') {
        return await markLost(session.db, row, workflow);
      }
      if (workflow === 'COMPLETED') {
        // It was resumed in the moment its workflow ended: that one did not see it.
        restarts += 1;
        if (restarts > MOST_RESTARTS) return await markLost(session.db, row, workflow);
        await whileUnavailable(() => startEvaluation(session.client, session.config.taskQueue, row));
        ended = watchWorkflow(session, id);
      }
      if (display !== null) {
        const progress = await whileTransient(() => loadProgress(session.db, id));
        display.show(row, progress, await whileTransient(() => loadFailingTrials(session.db, id)));
      }
      const pollMs = context.isTty && row.planned_trials <= LARGE ? POLL_MS : SELDOM_POLL_MS;
      await Promise.race([sleep(pollMs, undefined, { signal: options.signal }).catch(() => undefined), ended.promise]);
      if (options.signal.aborted) throw new Interrupted();
    }
  } finally {
    display?.clear();
  }
}

/** How the workflow ended, as soon as it has; the server may go away and come back meanwhile. */
function watchWorkflow(session: Session, id: string): { state(): string | null; promise: Promise<void> } {
  let state: string | null = null;
  const handle = session.client.workflow.getHandle(workflowIdOf(id));
  const watch = async (): Promise<void> => {
    while (state === null) {
      try {
        await handle.result();
        state = 'COMPLETED';
      } catch {
        // A failed workflow and an unreachable server both land here; describe tells them apart.
        const name = await handle.describe().then(
          (description) => description.status.name,
          () => 'RUNNING',
        );
        if (name !== 'RUNNING' && name !== 'CONTINUED_AS_NEW') state = name;
        else await sleep(500, undefined, { ref: false });
      }
    }
  };
  return { state: () => state, promise: watch() };
}
