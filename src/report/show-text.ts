import { displayWidth, padEnd, wrap } from './align.ts';
import { cleanText, cleanWhole } from './clean.ts';

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
  const raw = text.includes('PRIVATE KEY') ? [text] : text.split(/\r\n|\r|\n/);
  const lines = raw.map((line) => clean(line, full)).flatMap((line) => (line === '' ? [''] : wrap(line, width)));
  return kept(lines, full);
}

/** The end of a text, where what went wrong was said last; as {@link textLines} otherwise. */
export function lastLines(text: string, width: number, full: boolean): string[] {
  const lines = textLines(text, width, true);
  if (full || lines.length <= KEPT_LINES + 1) return lines;
  return [`… ${lines.length - KEPT_LINES} lines before these (--full shows them)`, ...lines.slice(-KEPT_LINES)];
}

function clean(text: string, full: boolean): string {
  return full ? cleanWhole(text) : cleanText(text);
}

function kept(lines: string[], full: boolean): string[] {
  if (full || lines.length <= KEPT_LINES + 1) return lines;
  return [...lines.slice(0, KEPT_LINES), `… ${lines.length - KEPT_LINES} more lines (--full shows them)`];
}

/** A key with its colon, a string, or what stands between strings; each with the commas and brackets that close it. */
const JSON_PIECES = /(?:"(?:[^"\\]|\\.)*"?:?|[^",{}[\]]+|[{[])[,}\]]*|[,}\]]+/g;

/** A key stays with its value where both fit on a line. */
function jsonPieces(json: string, width: number): string[] {
  const pieces: string[] = [];
  for (const [piece] of json.matchAll(JSON_PIECES)) {
    const before = pieces.at(-1);
    if (before?.endsWith('":') === true && displayWidth(before) + displayWidth(piece) <= width) {
      pieces[pieces.length - 1] = before + piece;
    } else {
      pieces.push(piece);
    }
  }
  return pieces;
}

/** A value as JSON: on one line, or broken between keys and values; only a string wider than a line is broken itself. */
export function jsonLines(value: unknown, width: number, full: boolean): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of jsonPieces(clean(JSON.stringify(value) ?? 'null', full), width)) {
    if (displayWidth(line) + displayWidth(piece) <= width) {
      line += piece;
      continue;
    }
    if (line !== '') lines.push(line);
    const broken = wrap(piece, width);
    lines.push(...broken.slice(0, -1));
    line = broken.at(-1) ?? '';
  }
  return kept([...lines, line], full);
}

/** Lines under a label: `args    {…}`, continued below the first. */
export function labelled(label: string, lines: readonly string[], indent: number): string[] {
  const head = `${' '.repeat(indent)}${padEnd(label, LABEL_WIDTH)}`;
  return lines.map((line, i) => `${i === 0 ? head : ' '.repeat(indent + LABEL_WIDTH)}${line}`.trimEnd());
}

export const LABEL_WIDTH = 10;
