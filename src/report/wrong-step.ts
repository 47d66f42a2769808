import { displayWidth, truncate, truncateStart, wrap } from './align.ts';

/** Columns of the part before "wanted" that stay at least: room for a tool and an argument. */
const HEAD = 24;

/** The reason in at most `columns`: what leads up to "wanted … got …" goes first, then the ends of the two values. */
function shorten(reason: string, columns: number): string {
  const wantedAt = reason.indexOf('wanted ');
  const gotAt = reason.indexOf(', got ', wantedAt);
  if (displayWidth(reason) <= columns || wantedAt < 0 || gotAt < 0) return reason;
  const head = reason.slice(0, wantedAt);
  const wanted = reason.slice(wantedAt, gotAt);
  const got = reason.slice(gotAt);
  const values = displayWidth(wanted) + displayWidth(got);
  const headRoom = Math.max(Math.min(displayWidth(head), HEAD), columns - values);
  const room = columns - headRoom;
  const half = Math.floor(room / 2);
  // A short value leaves its share to the other.
  const wantedRoom = Math.max(half, room - displayWidth(got));
  const gotRoom = Math.max(room - half, room - displayWidth(wanted));
  return endOf(head, headRoom) + truncate(wanted, wantedRoom) + truncate(got, gotRoom);
}

/** The end of a text in at most `columns`, after `… `; where it can, it begins with a whole word, not inside brackets. */
function endOf(text: string, columns: number): string {
  const cut = truncateStart(text, columns);
  if (cut === text) return text;
  const partOfWord = cut.indexOf(' ');
  const bracketEnd = /^ [^ (]*\)[,;:]?(?= )/.exec(cut.slice(partOfWord))?.[0].length ?? 0;
  const word = partOfWord + bracketEnd;
  return word > 0 && word < cut.length - 1 ? `…${cut.slice(word)}` : cut;
}

/**
 * `lead` and a reason on at most `maxLines` lines. A reason that names a wrong call (`…: wanted …, got …`) is cut where it
 * hurts least, so that both values begin on the lines that are left; any other at its end.
 */
export function wrapReason(lead: string, reason: string, width: number, maxLines: number): string[] {
  const room = width * maxLines - displayWidth(lead);
  // Breaks between words cost columns that only wrapping knows.
  for (let columns = room; columns > 2 * HEAD; columns -= 2) {
    const lines = wrap(lead + shorten(reason, columns), width);
    if (lines.length <= maxLines) return lines;
  }
  return wrap(lead + reason, width, maxLines);
}
