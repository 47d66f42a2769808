import { createReadStream } from 'node:fs';
import { parseJsonSource } from './read-json.ts';
import { unreadable } from './read-text.ts';
import { errorAt } from './source.ts';
import type { Report, SourceValue } from './source.ts';

/** Longest line of a JSON-lines file, bytes. A longer one is refused with its number, without being held in memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Reads JSON lines one by one: memory is bounded by the longest line. LF, CR LF and CR end a line; a byte-order mark and
 * blank lines are skipped; the last line needs no end. A bad line is reported with its number and the rest is still read.
 */
export async function* readJsonl(absolutePath: string, file: string, report: Report): AsyncGenerator<SourceValue> {
  for await (const line of readLines(absolutePath, file, report)) {
    if (line.text.trim() === '') continue;
    const source = parseJsonSource(line.text, file, report, line.number);
    if (source !== null) yield source;
  }
}

interface Line {
  number: number;
  text: string;
}

async function* readLines(absolutePath: string, file: string, report: Report): AsyncGenerator<Line> {
  const collector = new LineCollector(file, report);
  try {
    for await (const chunk of createReadStream(absolutePath, { highWaterMark: 256 * 1024 })) {
      yield* collector.take(chunk as Buffer);
    }
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error;
    report(errorAt({ file, line: 0, column: 0 }, unreadable(error)));
    return;
  }
  yield* collector.end();
}

class LineCollector {
  readonly #file: string;
  readonly #report: Report;
  #number = 1;
  #parts: Buffer[] = [];
  #length = 0;
  #tooLong = false;
  #afterCr = false;

  constructor(file: string, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  *take(chunk: Buffer): Generator<Line> {
    let from = 0;
    let lf = chunk.indexOf(LF);
    let cr = chunk.indexOf(CR);
    while (lf !== -1 || cr !== -1) {
      const isLf = cr === -1 || (lf !== -1 && lf < cr);
      const end = isLf ? lf : cr;
      if (isLf) lf = chunk.indexOf(LF, end + 1);
      else cr = chunk.indexOf(CR, end + 1);
      // An LF right after a CR is its second half, be it in the next chunk.
      const ended = isLf && this.#afterCr && end === from;
      this.#afterCr = !isLf;
      if (!ended) {
        this.#add(chunk.subarray(from, end));
        yield* this.#finish();
        this.#number++;
      }
      from = end + 1;
    }
    if (from < chunk.length) this.#afterCr = false;
    this.#add(chunk.subarray(from));
  }

  *end(): Generator<Line> {
    yield* this.#finish();
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > MAX_LINE_BYTES) {
      this.#tooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(part);
  }

  *#finish(): Generator<Line> {
    const bytes =
      this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts);
    const tooLong = this.#tooLong;
    const length = this.#length;
    this.#parts = [];
    this.#length = 0;
    this.#tooLong = false;
    const place = { file: this.#file, line: this.#number, column: 1 };
    if (tooLong) {
      const limit = MAX_LINE_BYTES / 1024 / 1024;
      this.#report(errorAt(place, `a line of ${Math.ceil(length / 1024 / 1024)} MB; a line has at most ${limit} MB`));
      return;
    }
    const text = decodeLine(bytes);
    if (text === null) {
      this.#report(errorAt(place, 'not valid UTF-8; save the file as UTF-8'));
      return;
    }
    yield { number: this.#number, text };
  }
}

function decodeLine(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
