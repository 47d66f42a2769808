import { setTimeout as sleep } from 'node:timers/promises';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { findEvaluation } from '../../db/evaluations.ts';
import { type FailingTrials, loadFailingTrials } from '../../db/failing-trials.ts';
import { loadProgress, type Progress } from '../../db/missing-trials.ts';
import { whileTransient } from '../../db/transient.ts';
import type { CommandContext } from '../context.ts';
import { endedTrials } from '../stored/eta.ts';
import { deletedMeanwhile } from './deleted-meanwhile.ts';
import { createFailingNotes } from './failing-notes.ts';
import { progressLine } from './progress-line.ts';
import { markLost, startEvaluation, workflowIdOf } from './start-evaluation.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';
import type { Session } from '../session.ts';

const POLL_MS = 250;
/** Counting the trials of a large evaluation is work for Postgres: it is done less often. */
const LARGE = 5_000;
const LARGE_POLL_MS = 1_000;
const MOST_RESTARTS = 5;
/** Without a terminal: a line when this much time has passed. */
const PLAIN_LINE_MS = 10_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Thrown when the user stops following with Ctrl-C. */
export class Interrupted extends Error {}

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
  const display = createDisplay(context, options.quiet);
  let ended = watchWorkflow(session, id);
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
      const progress = await whileTransient(() => loadProgress(session.db, id));
      display.show(row, progress, await whileTransient(() => loadFailingTrials(session.db, id)));
      await Promise.race([
        sleep(row.planned_trials > LARGE ? LARGE_POLL_MS : POLL_MS, undefined, { signal: options.signal }).catch(
          () => undefined,
        ),
        ended.promise,
      ]);
      if (options.signal.aborted) throw new Interrupted();
    }
  } finally {
    display.clear();
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
  const promise = watch().then(() => sleep(20));
  return { state: () => state, promise };
}

interface Display {
  show(row: EvaluationRow, progress: Progress, failing: readonly FailingTrials[]): void;
  clear(): void;
}

function createDisplay(context: CommandContext, quiet: boolean): Display {
  if (quiet) return { show: () => undefined, clear: () => undefined };
  const startedAt = performance.now();
  const notesOf = createFailingNotes();
  let drawn = false;
  let lastLineAt = startedAt;
  let base: { done: number; at: number } | null = null;
  return {
    show(row, progress, failing) {
      const done = endedTrials(progress);
      for (const note of notesOf(failing, done, performance.now()))
        context.stderr(`${drawn ? CLEAR_LINE : ''}${note}\n`);
      base ??= { done, at: performance.now() };
      const pace = { done, doneSince: done - base.done, elapsedMs: performance.now() - base.at };
      const line = progressLine(row, progress, pace, context.isTty ? (context.columns ?? 80) : Infinity);
      if (context.isTty) {
        context.stderr(`${CLEAR_LINE}${line}`);
        drawn = true;
      } else if (performance.now() - lastLineAt >= PLAIN_LINE_MS) {
        context.stderr(`${line}\n`);
        lastLineAt = performance.now();
      }
    },
    clear() {
      if (drawn) context.stderr(CLEAR_LINE);
      drawn = false;
    },
  };
}
