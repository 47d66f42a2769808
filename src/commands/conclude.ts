import { EXIT } from '../core/errors.ts';
import { renderJson } from '../report/json.ts';
import { renderText } from '../report/text.ts';
import { type EvaluationRow, findEvaluation } from '../db/evaluations.ts';
import type { CommandContext } from './context.ts';
import { ExitSignal } from './exit-signal.ts';
import { followEvaluation, Interrupted } from './follow.ts';
import { startOwnWorker } from './own-worker.ts';
import type { Session } from './session.ts';
import { stopSignal } from './stop-signal.ts';
import { startEvaluation } from './start-evaluation.ts';
import { storedReport } from './stored-report.ts';

/**
 * Brings an evaluation to its end: a worker in this process (unless told not to), the workflow, progress, the report.
 * Ends with the exit code of the gates by throwing {@link ExitSignal}.
 */
export async function conclude(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  options: { worker: boolean; json: boolean },
): Promise<never> {
  const interrupt = stopSignal({
    onFirst: () => context.stderr('\nstopping … (Ctrl-C again to leave at once)\n'),
  });
  const worker = options.worker ? await startOwnWorker(context, session) : null;
  try {
    const { whileUnavailable } = await import('./while-unavailable.ts');
    await whileUnavailable(() => startEvaluation(session.client, session.config.taskQueue, row));
    const following = followEvaluation(context, session, row.id, {
      signal: interrupt.signal,
      quiet: options.json && !context.isTty,
    });
    const ended = await Promise.race([following, worker?.failed ?? new Promise<never>(() => undefined)]);
    const report = await storedReport(session.db, ended, nextSteps(session));
    context.stdout(options.json ? renderJson(report) : renderText(report, layoutOf(context)));
    throw new ExitSignal(report.verdict.exit_code);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const now = await findEvaluation(session.db, row.id);
    const goesOn =
      worker === null ? 'it goes on without this command' : 'what is finished is kept; nothing else runs now';
    context.stderr(
      `\nstopped following ${row.id} (${now?.status ?? 'gone'}): ${goesOn}.\n  assay resume ${row.id}    go on\n  assay cancel ${row.id}    end it\n`,
    );
    throw new ExitSignal(EXIT.interrupted);
  } finally {
    await worker?.stop();
    interrupt.dispose();
  }
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
