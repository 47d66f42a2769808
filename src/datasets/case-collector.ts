import type { EvalCase } from '../core/case.ts';
import { errorAt } from './source.ts';
import type { Place, Report, SourceValue } from './source.ts';
import { convertCase } from './convert-case.ts';
import { readRecords } from './read-records.ts';
import { formatPlace } from './suite-parts.ts';

/** Cases of one or several dataset files, in order; ids are unique over all of them. */
export class CaseCollector {
  readonly cases: EvalCase[] = [];
  /** Where each case stands, by id. */
  readonly positions = new Map<string, Place>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /** @param check looks at a case while its source is still there */
  async addFile(
    absolutePath: string,
    file: string,
    check: (evalCase: EvalCase, source: SourceValue) => void = () => undefined,
  ): Promise<void> {
    for await (const source of readRecords(absolutePath, file, this.#report)) {
      const evalCase = convertCase(source, this.#report);
      if (evalCase === null) continue;
      const place = source.place(['id']);
      const before = this.positions.get(evalCase.id);
      if (before !== undefined) {
        const message = `duplicate id ${JSON.stringify(evalCase.id)}; it is already the id of the case at ${formatPlace(before)}`;
        this.#report(errorAt(place, message));
        continue;
      }
      this.positions.set(evalCase.id, place);
      this.cases.push(evalCase);
      check(evalCase, source);
    }
  }
}
