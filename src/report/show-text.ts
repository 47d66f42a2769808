import { padEnd, wrap } from './align.ts';
import { cleanText } from './clean.ts';

/** Lines of one text kept when not everything is asked for. */
const KEPT_LINES = 12;

/** How much of long texts `show` prints. */
export interface ShowOptions {
  width: number;
  color: boolean;
  /** Print long texts whole. */
  full: boolean;
}

/**
 * Text from outside as lines that fit: secrets masked, control characters gone, its own line breaks kept. Without
 * `full`, long texts end in a line that says how much was left out.
 */
export function textLines(text: string, width: number, full: boolean): string[] {
  // A private key spans lines; masking must see it whole.
  const raw = text.includes('PRIVATE KEY') ? [cleanText(text)] : text.split(/\r\n|\r|\n/).map(cleanText);
  const lines = raw.flatMap((line) => (line === '' ? [''] : wrap(line, width)));
  if (full || lines.length <= KEPT_LINES + 1) return lines;
  return [...lines.slice(0, KEPT_LINES), `… ${lines.length - KEPT_LINES} more lines (--full shows them)`];
}

/** A value as JSON on one line, broken where it is long. */
export function jsonLines(value: unknown, width: number, full: boolean): string[] {
  return textLines(JSON.stringify(value) ?? 'null', width, full);
}

/** Lines under a label: `args    {…}`, continued below the first. */
export function labelled(label: string, lines: readonly string[], indent: number): string[] {
  const head = `${' '.repeat(indent)}${padEnd(label, LABEL_WIDTH)}`;
  return lines.map((line, i) => `${i === 0 ? head : ' '.repeat(indent + LABEL_WIDTH)}${line}`.trimEnd());
}

export const LABEL_WIDTH = 10;
