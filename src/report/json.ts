import type { CaseResult } from '../core/evaluation.ts';
import type { ReportModel } from './report-model.ts';

/** The report as one JSON document: a {@link ReportModel}, without the list of all cases. Ends with a newline. */
export function renderJson(model: ReportModel): string {
  return `${JSON.stringify(model, null, 2)}\n`;
}

/**
 * The report with every case, as pieces to write one after the other: no piece holds more than one case, so neither the
 * string limit nor the heap bounds the number of cases. The document is the {@link ReportModel} with a last key
 * `cases`: CaseResult objects, one a line.
 */
export async function* renderJsonWithCases(
  model: ReportModel,
  cases: Iterable<CaseResult> | AsyncIterable<CaseResult>,
): AsyncGenerator<string, void, void> {
  const head = JSON.stringify(model, null, 2);
  yield `${head.slice(0, head.lastIndexOf('\n}'))},\n  "cases": [`;
  let separator = '\n    ';
  for await (const result of cases) {
    yield separator + JSON.stringify(result);
    separator = ',\n    ';
  }
  yield '\n  ]\n}\n';
}
