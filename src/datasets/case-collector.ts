import type { EvalCase } from '../core/case.ts';
import { errorAt, formatPlace, valueAt } from './readers/source.ts';
import type { Place, Report, SourceValue } from './readers/source.ts';
import { convertCase } from './shapes/convert-case.ts';
import { readRecords } from './readers/read-records.ts';
import { VAGUE_WORDS } from './checks/vague-words.ts';

/** Cases of one or several dataset files, in order; ids are unique over all of them. */
export class CaseCollector {
  readonly cases: EvalCase[] = [];
  /** Where each case stands, by id. */
  readonly positions = new Map<string, Place>();
  readonly #report: Report;
  readonly #vagueWords: readonly string[];

  constructor(report: Report, vagueWords: readonly string[] = VAGUE_WORDS) {
    this.#report = report;
    this.#vagueWords = vagueWords;
  }

  async addFile(absolutePath: string, file: string): Promise<void> {
    for await (const source of readRecords(absolutePath, file, this.#report)) {
      const unique = this.#isUnique(source);
      const evalCase = convertCase(source, this.#report, this.#vagueWords);
      if (evalCase !== null && unique) this.cases.push(evalCase);
    }
  }
  /** Remembers the id of a record, valid or not, so that a duplicate is found in the same pass as other problems. */
  #isUnique(source: SourceValue): boolean {
    const raw = valueAt(source.value, ['id']);
    if (typeof raw !== 'string' && typeof raw !== 'number') return true;
    const id = String(raw);
    const place = source.place(['id']);
    const before = this.positions.get(id);
    if (before === undefined) {
      this.positions.set(id, place);
      return true;
    }
    const message = `duplicate id ${JSON.stringify(id)}; it is already the id of the case at ${formatPlace(before)}`;
    this.#report(errorAt(place, message));
    return false;
  }
}
