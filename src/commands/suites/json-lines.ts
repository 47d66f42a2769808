import { createReadStream } from 'node:fs';
import { UserError } from '../../core/errors.ts';

/** A line of a text file, without its end. `number` is 1-based. */
export interface TextLine {
  number: number;
  text: string;
}

/** Longest line held, in UTF-16 units: a bound on memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * Lines of a UTF-8 file, one at a time: memory is bounded by the longest line. LF and CR LF end a line; a byte-order mark
 * and blank lines are skipped; the last line needs no end.
 * @throws UserError when the file cannot be read, is not UTF-8, or has a line too long to hold
 */
export async function* readTextLines(file: string, shown: string): AsyncGenerator<TextLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  // Parts of the line that is not ended yet, joined once: a long line is not copied for every chunk.
  let pending: string[] = [];
  let held = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      const [first = '', ...others] = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n');
      pending.push(first);
      held += first.length;
      if (held > LONGEST_LINE) throw tooLong(shown, number + 1);
      const last = others.pop();
      if (last === undefined) continue;
      for (const text of [pending.join(''), ...others]) {
        number += 1;
        if (text.trim() !== '') yield { number, text };
      }
      pending = [last];
      held = last.length;
    }
    pending.push(decoder.decode());
  } catch (error) {
    throw readable(error, shown, number + 1);
  }
  const text = pending.join('');
  if (text.trim() !== '') yield { number: number + 1, text };
}

function tooLong(shown: string, line: number): UserError {
  return new UserError(`${shown}:${line}: a line longer than ${LONGEST_LINE / 1024 / 1024} million characters`, {
    hint: 'write one trajectory a line, and cut what tools returned',
  });
}

function readable(error: unknown, shown: string, line: number): unknown {
  if (error instanceof TypeError) {
    return new UserError(`${shown}: not valid UTF-8 at or after line ${line}`, {
      hint: 'save the file as UTF-8',
      cause: error,
    });
  }
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined) return error;
  const what =
    code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
  return new UserError(`${shown}: ${what}`, { hint: 'name a file of JSON lines', cause: error });
}
