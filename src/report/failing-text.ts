import { cleanText } from './clean.ts';
import { plural } from './format.ts';

/** Longest message of a failure on a line of progress, in UTF-16 units. */
const LIMIT = 300;

/** Trials that are tried again, and why, on one line. */
export function failingText({ kind, trials, message }: { kind: string; trials: number; message: string }): string {
  const clean = cleanText(message);
  const short = clean.length > LIMIT ? `${clean.slice(0, LIMIT)}…` : clean;
  return `${plural(trials, 'trial')} tried again after ${kind}: ${short}`;
}
