import type { FailingTrials } from '../../db/failing-trials.ts';
import { failingText } from '../../report/failing-text.ts';

/** A kind of failure is said again when no trial has ended for so long, milliseconds. */
const AGAIN_MS = 30_000;

/**
 * Says why trials take long, without saying it all the time: a kind of failure when it is first seen, and again while
 * nothing ends.
 * @returns lines to print now; `ended` is the number of trials that have ended, `nowMs` any clock in milliseconds.
 */
export function createFailingNotes(): (failing: readonly FailingTrials[], ended: number, nowMs: number) => string[] {
  const said = new Map<string, { ended: number; at: number }>();
  return (failing, ended, nowMs) =>
    failing.flatMap((one) => {
      const before = said.get(one.kind);
      // Trials end: the next thirty seconds count from here.
      const moves = before !== undefined && before.ended !== ended;
      if (moves) said.set(one.kind, { ended, at: nowMs });
      if (moves || (before !== undefined && nowMs - before.at < AGAIN_MS)) return [];
      said.set(one.kind, { ended, at: nowMs });
      return [failingText(one)];
    });
}
