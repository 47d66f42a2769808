import type { RunningWorker } from '../../worker.ts';
import { EXIT } from '../../core/errors.ts';
import type { EvaluationStatus } from '../../core/evaluation.ts';
import { renderJson } from '../../report/json.ts';
import { renderText } from '../../report/text.ts';
import { type EvaluationRow, findEvaluation } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';
import { ExitSignal } from '../exit-signal.ts';
import { followEvaluation, Interrupted } from './follow.ts';
import { unlessAborted } from '../interruptible.ts';
import type { Session } from '../session.ts';
import { stopSignal } from '../stop-signal.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';
import { startEvaluation } from './start-evaluation.ts';
import { storedReport } from '../stored/stored-report.ts';

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
    const report = await storedReport(session.db, ended, nextSteps(session));
    context.stdout(options.json ? renderJson(report) : renderText(report, layoutOf(context)));
    throw new ExitSignal(report.verdict.exit_code);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const now = await findEvaluation(session.db, row.id);
    context.stderr(interruptedText(row.id, now?.status ?? null, options.worker !== null));
    throw new ExitSignal(EXIT.interrupted);
  } finally {
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

/**
 * What a user reads who stopped following with Ctrl-C.
 * @param status of the evaluation now; null: it was deleted
 * @param ownWorker whether the worker that stops now was this command's own; others are not known here
 */
export function interruptedText(id: string, status: EvaluationStatus | null, ownWorker: boolean): string {
  if (status === null) return `\nstopped following ${id}: it was deleted.\n`;
  if (status === 'completed') return `\n${id} is completed.\n  assay report ${id}    the report\n`;
  const workers = '`assay up` or `assay worker` runs';
  const goesOn: Record<Exclude<EvaluationStatus, 'completed'>, string> = {
    running: ownWorker
      ? `What is finished is kept. It goes on where ${workers}.`
      : `It goes on without this command, where ${workers}.`,
    paused: 'It waits until it is unpaused.',
    stopped: 'What is finished is kept.',
    canceled: 'What is finished is kept.',
  };
  const steps: Record<Exclude<EvaluationStatus, 'completed'>, [string, string][]> = {
    running: [
      ['resume', 'go on, following it'],
      ['cancel', 'end it'],
    ],
    paused: [
      ['unpause', 'let it go on'],
      ['cancel', 'end it'],
    ],
    stopped: [['resume', 'go on']],
    canceled: [['resume', 'go on']],
  };
  const lines = steps[status].map(([command, what]) => `  assay ${command} ${id}    ${what}\n`);
  return `\nstopped following ${id} (${status})\n${goesOn[status]}\n${lines.join('')}`;
}

/** Width and colour of the text report. */
export function layoutOf(context: CommandContext): { width: number; color: boolean } {
  const columns = Number(context.env['COLUMNS']) || context.columns;
  const color = context.isTty && (context.env['NO_COLOR'] ?? '') === '';
  return { width: Math.min(120, Math.max(80, columns ?? 100)), color };
}

function nextSteps(session: Session): { what: string; command: string }[] {
  if (session.stack.uiUrl === null) return [];
  return [{ what: 'Look at the workflows', command: `assay up    (then open ${session.stack.uiUrl})` }];
}
