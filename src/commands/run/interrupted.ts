import type { EvaluationStatus } from '../../core/evaluation.ts';

/** Thrown when the user stops following with Ctrl-C. */
export class Interrupted extends Error {}

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
