import { MOST_PROBLEMS, type Problem } from '../../core/errors.ts';
import { parseJsonSource } from '../../datasets/readers/read-json.ts';
import { errorAt } from '../../datasets/readers/source.ts';
import type { TextLine } from './json-lines.ts';
import type { BadRecord, ScoredRecord } from './score-line.ts';

/** What `assay score` prints, collected line by line in the order recorded: trials are numbered, problems are placed. */
export class ScoredLines {
  readonly lines: string[] = [];
  readonly problems: Problem[] = [];
  readonly #file: string;
  readonly #trials = new Map<string, { taken: Set<number>; next: number }>();

  /** @param file as problems name it */
  constructor(file: string) {
    this.#file = file;
  }

  /** So many lines are bad that what comes next is left out. */
  get full(): boolean {
    return this.problems.length >= MOST_PROBLEMS;
  }

  /** Lines with what was made of each. */
  addAll(lines: readonly TextLine[], records: readonly (ScoredRecord | BadRecord)[]): void {
    for (const [index, line] of lines.entries()) {
      const record = records[index];
      if (record === undefined) throw new Error(`line ${line.number} was not scored`);
      if (!this.full) this.#add(line, record);
    }
  }

  #add(line: TextLine, record: ScoredRecord | BadRecord): void {
    const { caseId } = record;
    const trial = caseId === null ? null : this.#takeTrial(caseId, record.trial);
    if (typeof trial === 'string') this.#note(line, ['trial'], trial);
    else if ('message' in record) this.#note(line, record.at, record.message);
    else this.lines.push(`{"caseId":${JSON.stringify(caseId)},"trial":${trial},${record.scores}`);
  }

  /** Places are worked out for bad lines only: the reader that keeps them is slower. */
  #note(line: TextLine, at: string[], message: string): void {
    const source = parseJsonSource(line.text, this.#file, (problem) => this.problems.push(problem), line.number);
    const steps = at.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    if (source !== null) this.problems.push(errorAt(source.place(steps), message));
  }

  /** The trial's number: as written, else the next free one of the case. */
  #takeTrial(id: string, written: unknown): number | string {
    if (written !== null && (typeof written !== 'number' || !Number.isSafeInteger(written) || written < 1)) {
      return '"trial": expected a whole number from 1';
    }
    const trials = this.#trials.get(id) ?? { taken: new Set(), next: 1 };
    this.#trials.set(id, trials);
    while (trials.taken.has(trials.next)) trials.next += 1;
    const trial = written ?? trials.next;
    if (trials.taken.has(trial)) return `trial ${trial} of case "${id.slice(0, 300)}" is there twice`;
    trials.taken.add(trial);
    return trial;
  }
}
