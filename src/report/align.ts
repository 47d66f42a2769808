import stringWidth from 'string-width';

/** Columns a text takes on a terminal: full-width characters take two. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** Pads to `width` columns; longer text is left as it is. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Pads on the left to `width` columns. */
export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Cuts to at most `width` columns, with … where something was cut. Never cuts a character in two. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const columns = displayWidth(segment);
    if (used + columns > width - 1) break;
    kept += segment;
    used += columns;
  }
  return width < 1 ? '' : `${kept}…`;
}

/** Keeps the end of a text in at most `width` columns, after … where something was cut. */
export function truncateStart(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    const columns = displayWidth(segment);
    if (used + columns > width - 1) break;
    kept = segment + kept;
    used += columns;
  }
  return width < 1 ? '' : `…${kept}`;
}

/** Pieces a line may break between: words with the space before them, and single full-width characters. */
function pieces(text: string): string[] {
  const found: string[] = [];
  let word = '';
  for (const { segment } of graphemes.segment(text)) {
    if (displayWidth(segment) > 1) {
      if (word !== '') found.push(word);
      found.push(segment);
      word = '';
    } else if (segment === ' ') {
      if (word !== '') found.push(word);
      word = ' ';
    } else {
      word += segment;
    }
  }
  if (word !== '') found.push(word);
  return withUnits(found);
}

const UNIT = /^ (?:%|ms|s|min|h)[,.;:)]*$/;

/** `50.0 %` and `12 s` are not torn apart. */
function withUnits(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before !== undefined && UNIT.test(word) && /\d$/.test(before)) joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return joined;
}

/** A piece wider than a line, cut into pieces that fit. */
function cut(piece: string, width: number): string[] {
  if (displayWidth(piece) <= width) return [piece];
  const parts: string[] = [];
  let part = '';
  for (const { segment } of graphemes.segment(piece)) {
    if (displayWidth(part) + displayWidth(segment) > width) {
      parts.push(part);
      part = '';
    }
    part += segment;
  }
  return [...parts, part];
}

/**
 * Breaks a text into lines of at most `width` columns, at spaces and between full-width characters.
 * @param maxLines default: no limit; the last line then ends in …
 */
export function wrap(text: string, width: number, maxLines = Infinity): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces(text).flatMap((one) => cut(one, width))) {
    if (line !== '' && displayWidth(line) + displayWidth(piece) > width) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? piece.replace(/^ /, '') : piece;
    if (lines.length >= maxLines) break;
  }
  if (lines.length >= maxLines && line !== '') {
    const last = lines[maxLines - 1] ?? '';
    return [...lines.slice(0, maxLines - 1), truncate(`${last} …`, width)];
  }
  if (line !== '') lines.push(line);
  return lines;
}

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Widest the column may get; default: no limit. */
  max?: number;
}

/** Columns of cells under a line of titles, two spaces apart. Every row has a cell for each column. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const cells = [columns.map((column) => column.title), ...rows].map((row) =>
    row.map((cell, i) => truncate(cell, columns[i]?.max ?? Infinity)),
  );
  const widths = columns.map((_, i) => cells.reduce((widest, row) => Math.max(widest, displayWidth(row[i] ?? '')), 0));
  return cells.map((row) =>
    row
      .map((cell, i) => (columns[i]?.align === 'right' ? padStart(cell, widths[i] ?? 0) : padEnd(cell, widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** A column of a table that must fit. */
export interface FittedColumn extends Column {
  /** Columns it may be narrowed to; default: it is not narrowed. */
  min?: number;
  /** Left out where the table is too wide even so, the lowest number first; default: it stays. */
  drop?: number;
}

/**
 * A table of at most `width` columns: cells are cut where `min` allows it, then whole columns are left out in the order
 * of `drop`. Columns that must stay may still make it wider.
 */
export function fittedTable(
  columns: readonly FittedColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const natural = columns.map((column, i) =>
    Math.min(
      column.max ?? Infinity,
      rows.reduce((widest, row) => Math.max(widest, displayWidth(row[i] ?? '')), displayWidth(column.title)),
    ),
  );
  const kept = columns.map((_, i) => i);
  const least = (i: number): number => Math.min(natural[i] ?? 0, columns[i]?.min ?? Infinity);
  const total = (of: (i: number) => number): number => kept.reduce((sum, i) => sum + of(i), 2 * (kept.length - 1));
  const droppable = kept.filter((i) => columns[i]?.drop !== undefined);
  droppable.sort((a, b) => (columns[a]?.drop ?? 0) - (columns[b]?.drop ?? 0));
  for (const i of droppable) if (total(least) > width) kept.splice(kept.indexOf(i), 1);
  const widths = [...natural];
  // The last column gives way first: it holds the longest texts.
  for (const i of [...kept].reverse()) {
    const excess = Math.max(0, total((one) => widths[one] ?? 0) - width);
    widths[i] = Math.max(least(i), (widths[i] ?? 0) - excess);
  }
  return table(
    kept.flatMap((i) => (columns[i] === undefined ? [] : [{ ...columns[i], max: widths[i] ?? Infinity }])),
    rows.map((row) => kept.map((i) => row[i] ?? '')),
  );
}

/** A frame of `width` columns around lines, with a title in its top edge. */
export function box(title: string, lines: readonly string[], width: number): string[] {
  const inner = width - 4;
  const head = `┌─ ${title} `;
  return [
    `${head}${'─'.repeat(Math.max(0, width - displayWidth(head) - 1))}┐`,
    ...lines.map((line) => `│ ${padEnd(truncate(line, inner), inner)} │`),
    `└${'─'.repeat(width - 2)}┘`,
  ];
}
