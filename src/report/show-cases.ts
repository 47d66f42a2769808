import type { CaseResult } from '../core/evaluation.ts';
import { table } from './align.ts';
import { cleanText } from './clean.ts';
import { formatPercent, formatScore, NONE } from './format.ts';

const ORDER: Record<CaseResult['outcome'], number> = { failed: 0, flaky: 1, unscored: 2, passed: 3 };

/** A table of cases, those that did not pass first, then by id. */
export function caseTable(cases: readonly CaseResult[]): string[] {
  const sorted = [...cases].sort(
    (a, b) => ORDER[a.outcome] - ORDER[b.outcome] || (a.case_id < b.case_id ? -1 : a.case_id > b.case_id ? 1 : 0),
  );
  return table(
    [
      { title: 'case', max: 48 },
      { title: 'outcome' },
      { title: 'passed', align: 'right' },
      { title: 'completion', align: 'right' },
      { title: 'tools', align: 'right' },
      { title: 'layer' },
      { title: 'category', max: 20 },
    ],
    sorted.map((one) => [
      cleanText(one.case_id),
      one.outcome,
      `${one.passed_trials}/${one.trials}`,
      formatPercent(one.metrics['completion_rate']?.mean ?? null),
      formatScore(one.metrics['tool_score']?.mean ?? null),
      one.layer ?? NONE,
      one.category === null ? NONE : cleanText(one.category),
    ]),
  );
}
