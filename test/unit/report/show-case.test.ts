import { expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { renderCase, type ShownCase } from '../../../src/report/show-case.ts';

const evalCase: EvalCase = {
  id: 'c-1',
  input: 'Refund order 88',
  expected: { must_call: ['refund'], criteria: 'Names order 88.' },
  rubric: 'Looks the order up before it refunds.',
};

function trial(trial_index: number, reason: string | null) {
  return {
    trial_index,
    status: reason === null ? ('passed' as const) : ('failed' as const),
    final_status: 'COMPLETED',
    iterations: 2,
    tool_calls: 1,
    tokens: 100,
    latency_ms: 10,
    cost_usd: 0,
    error: null,
    scores:
      reason === null
        ? []
        : [{ scorer: 'must_call', value: 0, passed: false, deciding: true, violation: false, reason }],
  };
}

function shown(trials: ShownCase['trials'], evaluation_status: ShownCase['evaluation_status'] = 'completed'): string {
  const of = {
    evaluation_id: 'e-1',
    evaluation_status,
    case_id: 'c-1',
    evalCase,
    result: null,
    planned: trials.length,
    trials,
  };
  return renderCase(of, { width: 80, color: false, full: false });
}

test('what the judge reads is printed as prose, the checks as data', () => {
  const text = shown([trial(1, null)]);
  expect(text).toContain('expected  {"must_call":["refund"]}');
  expect(text).toContain('criteria  Names order 88.');
  expect(text).toContain('rubric    Looks the order up before it refunds.');
});

test('equal reasons are told once, with the trials they hold for', () => {
  const text = shown([
    trial(1, 'refund was not called'),
    trial(2, 'twice'),
    trial(3, 'refund was not called'),
    trial(4, null),
  ]);
  expect(text.slice(text.indexOf('\n\ntrials 1'))).toBe(
    '\n\ntrials 1, 3 failed\n  must_call: refund was not called\n\ntrial 2 failed\n  must_call: twice\n',
  );
});

test('a trial without an end is running only while its evaluation runs; else it is missing', () => {
  const unended = { ...trial(2, null), status: null, final_status: null };
  expect(shown([trial(1, null), unended], 'running')).toMatch(/2 +running/);
  for (const status of ['paused', 'completed', 'stopped', 'canceled'] as const) {
    const text = shown([trial(1, null), unended], status);
    expect(text).toMatch(/2 +missing/);
    expect(text).not.toContain('running');
  }
});
