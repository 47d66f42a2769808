import { expect, test } from 'vitest';
import { renderJson, renderJsonWithCases } from '../../../src/report/json.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { energyCases, energyReport } from '../../fixtures/report/energy.ts';
import { completed, facts } from '../../fixtures/trials.ts';

test('the JSON report is the model, keys stable', () => {
  const model = energyReport(energyCases({ 2: 'wrong-call' }));
  const parsed: unknown = JSON.parse(renderJson(model));
  expect(parsed).toEqual(model);
  expect(Object.keys(parsed as object)).toEqual([
    'schema',
    'evaluation',
    'verdict',
    'duration_ms',
    'result',
    'where',
    'worst',
    'not_passed',
    'actions',
    'comparison',
    'baseline_label',
    'gates',
    'calibration',
    'unmatched_calls',
    'next_steps',
  ]);
});

test('with cases: the same document with `cases` last; none is fine', async () => {
  const cases = energyCases({ 2: 'wrong-call' });
  const model = energyReport(cases);
  let text = '';
  for await (const piece of renderJsonWithCases(model, cases)) text += piece;
  expect(JSON.parse(text)).toEqual({ ...model, cases });
  let empty = '';
  for await (const piece of renderJsonWithCases(model, [])) empty += piece;
  expect(JSON.parse(empty)).toEqual({ ...model, cases: [] });
});

test('R21: 20,000 cases are written whole, piece by piece', async () => {
  async function* many() {
    for (let i = 0; i < 20_000; i += 1) yield reduceCase(facts(`c${i}`, 1), [completed(`c${i}`, 1, 1)]);
  }
  let largest = 0;
  let pieces = 0;
  for await (const piece of renderJsonWithCases(energyReport(energyCases()), many())) {
    largest = Math.max(largest, piece.length);
    pieces += 1;
  }
  expect(pieces).toBe(20_002);
  expect(largest).toBeLessThan(64_000);
});
