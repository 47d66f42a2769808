import { describe, expect, test } from 'vitest';
import type { TrialRecord } from '../../../src/core/evaluation.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { aggregate } from '../../fixtures/report/energy.ts';
import { facts, score, trial } from '../../fixtures/trials.ts';

const ENDING = "FAILED: the program ended with exit code 2 and without a result; it last wrote: can't open file";

function broken(id: string, index: number, more: Partial<TrialRecord> = {}): TrialRecord {
  const reason = 'call 1: wanted query, got none';
  return trial(id, index, {
    status: 'failed',
    final_status: 'FAILED',
    no_answer: ENDING,
    scores: [score('tool_score', 0, { reason }), score('tool_match', 0, { deciding: true, reason })],
    ...more,
  });
}

function answered(id: string, index: number, tool: number): TrialRecord {
  return trial(id, index, {
    status: tool < 1 ? 'failed' : 'passed',
    scores: [score('tool_score', tool, { deciding: true })],
  });
}

describe('trials that broke off without an answer', () => {
  test('are no layer’s, and have one cause: how they ended', () => {
    const result = reduceCase(facts('a', 2), [broken('a', 1), broken('a', 2)]);
    expect(result).toMatchObject({ layer: null, layers: { L1: 0, L2: 0, L3: 0 }, endings: { [ENDING]: 2 } });
    expect(result.failures[0]).toMatchObject({ reason: `ended ${ENDING}`, scorer: null, first_wrong_step: null });
    const plain = reduceCase(facts('a', 1), [broken('a', 1, { no_answer: null })]);
    expect(plain).toMatchObject({ layer: 'L2', layers: { L2: 1 } });
    expect(plain).not.toHaveProperty('endings');
  });

  test('a violation stays what the trial failed for', () => {
    const veto = score('must_not_call', 0, { violation: true, deciding: true, reason: 'drop_table was called' });
    expect(reduceCase(facts('a', 1), [broken('a', 1, { scores: [veto] })]).failures[0]?.reason).toBe(veto.reason);
  });

  test('the diagnosis leads with them and says nothing of tools', () => {
    const cases = ['a', 'b'].map((id) => reduceCase(facts(id, 2), [broken(id, 1), broken(id, 2)]));
    const { diagnosis, no_answer } = aggregate(cases);
    expect(no_answer).toEqual({ trials: 4, ending: ENDING, ending_trials: 4, case_ids: ['a', 'b'], cases: 2 });
    expect(diagnosis.map(({ layer }) => layer)).toEqual(['agent']);
    expect(diagnosis[0]?.symptom).toBe(`4 of 4 trials ended ${ENDING}, without an answer`);
  });

  test('tools are judged by the trials that answered; few broken ones come after', () => {
    const mixed = (tool: number) =>
      aggregate([
        reduceCase(facts('a', 5), [broken('a', 1), ...[2, 3, 4, 5].map((index) => answered('a', index, tool))]),
      ]).diagnosis;
    expect(mixed(1).map(({ layer }) => layer)).toEqual(['agent']);
    const bad = mixed(0.5);
    expect(bad.map(({ layer }) => layer)).toEqual(['L2', 'agent']);
    expect(bad[0]?.symptom).toContain('tool score 0.50');
  });

  test('endings that differ in numbers only are one; the most frequent speaks', () => {
    const ended = (index: number, no_answer: string) => broken('a', index, { no_answer });
    const result = reduceCase(facts('a', 3), [
      ended(1, 'FAILED: no license'),
      ended(2, 'FAILED: process 4711 died'),
      ended(3, 'FAILED: process 4712 died'),
    ]);
    expect(aggregate([result]).no_answer).toMatchObject({
      trials: 3,
      ending: 'FAILED: process 4711 died',
      ending_trials: 2,
    });
  });

  test('none: the result has no such key', () => {
    expect(aggregate([reduceCase(facts('a', 1), [answered('a', 1, 1)])])).not.toHaveProperty('no_answer');
  });
});
