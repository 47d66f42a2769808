import type { RunningWorker } from '../../worker.ts';
import { EXIT } from '../../core/errors.ts';
import { type EvaluationRow, findEvaluation } from '../../db/evaluations.ts';
import type { NextStep } from '../../report/report-model.ts';
import type { CommandContext } from '../context.ts';
import { ExitSignal } from '../exit-signal.ts';
import { followEvaluation } from './follow.ts';
import { Interrupted, interruptedText } from './interrupted.ts';
import { preloadReport, printReport } from './print-report.ts';
import { unlessAborted } from '../interruptible.ts';
import type { Session } from '../session.ts';
import { stopSignal } from '../stop-signal.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';
import { startEvaluation } from './start-evaluation.ts';

/** Milliseconds after the start, when trials run: before that, loading more code would hold up the first of them. */
const PRELOAD_AFTER_MS = 1_000;

/**
 * Brings an evaluation to its end: the worker of this process if it has one, the workflow, progress, the report. The
 * worker is stopped at the end.
 * Ends with the exit code of the gates by throwing {@link ExitSignal}.
 */
export async function conclude(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  options: { worker: Promise<RunningWorker> | null; json: boolean },
): Promise<never> {
  const interrupt = stopSignal({
    onFirst: () => context.stderr('\nstopping … (Ctrl-C again to leave at once)\n'),
  });
  const printing = { json: options.json, nextSteps: nextSteps(session) };
  const preloading = setTimeout(() => preloadReport(printing), PRELOAD_AFTER_MS);
  let worker: RunningWorker | null = null;
  try {
    // Its worker may be starting still: the workflow waits for it.
    const started = whileUnavailable(() => startEvaluation(session.client, session.config.taskQueue, row));
    started.catch(() => undefined);
    const failed = workerFailure(context, row.id);
    worker = await unlessStopped(interrupt.signal, options.worker?.catch(failed) ?? Promise.resolve(null));
    await unlessStopped(interrupt.signal, started);
    const following = followEvaluation(context, session, row.id, {
      signal: interrupt.signal,
      quiet: options.json && !context.isTty,
    });
    const ended = await Promise.race([following, worker?.failed.catch(failed) ?? new Promise<never>(() => undefined)]);
    // It takes a while to stop, and nothing of the report needs it. How it went, the last line here awaits.
    worker?.stop().catch(() => undefined);
    throw new ExitSignal(await printReport(context, session, ended, printing));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const now = await findEvaluation(session.db, row.id);
    context.stderr(interruptedText(row.id, now?.status ?? null, options.worker !== null));
    throw new ExitSignal(EXIT.interrupted);
  } finally {
    clearTimeout(preloading);
    await worker?.stop();
    interrupt.dispose();
  }
}

/** The evaluation is stored, and its workflow waits for a worker. */
function workerFailure(context: CommandContext, id: string): (error: unknown) => never {
  return (error) => {
    context.stderr(`the worker of this command failed; ${id} is kept: \`assay resume ${id}\` goes on\n`);
    throw error;
  };
}

/** A worker that was still starting is not waited for: it ends with this process, and has taken no trial. */
async function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return unlessAborted(signal, work).catch((error: unknown) => {
    throw error === signal.reason ? new Interrupted() : error;
  });
}

function nextSteps(session: Session): NextStep[] {
  if (session.stack.uiUrl === null) return [];
  return [{ what: 'Look at the workflows', command: `assay up    (then open ${session.stack.uiUrl})` }];
}
