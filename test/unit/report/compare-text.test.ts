import { expect, test } from 'vitest';
import { compareText } from '../../../src/report/compare-text.ts';
import { createStyle } from '../../../src/report/style.ts';
import type { Comparison } from '../../../src/core/evaluation.ts';
import type { SegmentChange } from '../../../src/core/trajectory.ts';

const COMPARISON: Comparison = {
  baseline_evaluation_id: 'a',
  compared_cases: 0,
  changed_cases: [],
  new_cases: [],
  removed_cases: [],
  stale: [],
  deltas: [],
  newly_failing: [],
  newly_passing: [],
  newly_flaky: [],
};

function text(prompt: SegmentChange[], comparison = COMPARISON): string {
  return compareText({ a: 'a', b: 'b', comparison, prompt, pairwise: null }, 80, createStyle(false));
}

test('changed segments of the prompt are listed, with the size of a change', () => {
  const shown = text([
    { name: 'base', change: 'changed', before: 'four', after: 'fives' },
    { name: 'topic', change: 'removed', before: 't', after: null },
  ]);
  expect(shown).toContain("Segments of the agent's prompt\n  base: changed (4 → 5 characters)\n  topic: removed\n");
});

test('an unchanged prompt is not spoken of', () => {
  expect(text([])).not.toContain('prompt');
});

test('evaluations without a case in common are said to be nothing to compare', () => {
  expect(text([])).toContain('no case is the same in both');
  expect(text([], { ...COMPARISON, compared_cases: 1 })).not.toContain('no case is the same');
});
