import type { EvaluationRow } from '../../db/evaluations.ts';
import type { FailingTrials } from '../../db/failing-trials.ts';
import type { Progress } from '../../db/missing-trials.ts';
import type { CommandContext } from '../context.ts';
import { endedTrials } from '../stored/eta.ts';
import { createFailingNotes } from './failing-notes.ts';
import { progressLine } from './progress-line.ts';

/** Without a terminal: a line when this much time has passed. */
const PLAIN_LINE_MS = 10_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Shows how an evaluation goes while it is followed. */
export interface Display {
  show(row: EvaluationRow, progress: Progress, failing: readonly FailingTrials[]): void;
  clear(): void;
}

/** On a terminal one line that is drawn anew; elsewhere a line every ten seconds. Trials that fail alike are told once. */
export function createDisplay(context: CommandContext): Display {
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
