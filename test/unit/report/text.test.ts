import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../src/report/align.ts';
import { buildReport } from '../../../src/report/report-model.ts';
import { renderText } from '../../../src/report/text.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { aggregate, compared, energyCases, energyReport } from '../../fixtures/report/energy.ts';
import { completed, errored, facts, score } from '../../fixtures/trials.ts';

const GOLDEN = join(import.meta.dirname, '../../fixtures/report');

/** Compares with the file; `UPDATE_GOLDEN=1` writes it, to be read before it is committed. */
async function golden(name: string, text: string): Promise<void> {
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(join(GOLDEN, name), text);
  expect(text).toBe(await readFile(join(GOLDEN, name), 'utf8'));
}

const WORSE = { 2: 'wrong-call', 7: 'flaky' } as const;
const UNSAFE = { 2: 'wrong-call', 3: 'wrong-call', 5: 'wrong-call', 7: 'flaky', 9: 'errored', 11: 'unsafe' } as const;

describe('text report', () => {
  test('passed, no baseline, 80 columns', () => golden('passed-80.txt', renderText(energyReport(energyCases()))));

  test('regressed against a baseline, 80 columns', async () => {
    const cases = energyCases(WORSE);
    await golden('regressed-80.txt', renderText(energyReport(cases, await compared(energyCases(), cases))));
  });

  test('unsafe, 120 columns', async () => {
    const cases = energyCases(UNSAFE);
    await golden(
      'unsafe-120.txt',
      renderText(energyReport(cases, await compared(energyCases(), cases)), { width: 120 }),
    );
  });

  test('incomplete, 80 columns', () =>
    golden('incomplete-80.txt', renderText(energyReport(energyCases({ 4: 'errored', 6: 'errored' })))));

  test('stopped by the endpoint: what to do is to mend that, not to look at the judge', () => {
    const model = energyReport(energyCases({ 4: 'errored', 6: 'errored' }));
    const stop = { kind: 'unauthorized', message: 'endpoint: 401. Set a valid key in OPENAI_API_KEY' } as const;
    const input = { ...model, cases: energyCases({ 4: 'errored', 6: 'errored' }) };
    const stopped = buildReport({ ...input, evaluation: { ...model.evaluation, status: 'stopped', stop } });
    expect(stopped.actions[0]?.text).toContain(`assay resume ${model.evaluation.evaluation_id}`);
    expect(stopped.actions.map((action) => action.layer)).not.toContain('infrastructure');
    expect(model.actions.map((action) => action.layer)).toContain('infrastructure');
  });

  test('next steps fit 80 columns with ids as Assay makes them: the commands go below, whole', () => {
    const model = energyReport(energyCases(UNSAFE));
    const id = 'benchmark-of-the-energy-assistant-20261129-233457-1821df';
    const text = renderText(
      buildReport({ ...model, cases: energyCases(UNSAFE), evaluation: { ...model.evaluation, evaluation_id: id } }),
    );
    expect(text).toContain(`\n  The worst case, step by step\n    assay show ${id} TC-011 3\n`);
    const next = text.slice(text.indexOf('\nNext\n'));
    for (const line of next.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  });

  test('money of a scripted model is said to be pretended', () => {
    const model = energyReport(energyCases());
    const cost = (offline: boolean): string =>
      renderText({ ...model, evaluation: { ...model.evaluation, offline } })
        .split('\n')
        .find((line) => line.startsWith('Cost')) ?? '';
    expect(cost(true)).toMatch(/^Cost +\$0\.\d+ \(agent .*\) as if priced · /);
    expect(cost(false)).not.toContain('priced');
  });

  test('calls no mock answered are named with their tools and cases', () => {
    const model = energyReport(energyCases());
    const unmatched_calls = [
      { tool: 'refund', calls: 7, cases: 4, case_ids: ['a', 'b', 'c'] },
      { tool: 'notify', calls: 1, cases: 1, case_ids: ['a'] },
    ];
    expect(renderText({ ...model, unmatched_calls })).toContain(
      '\n\nNo mock answered 8 calls: refund 7 (a, b, c and 1 more), notify 1 (a)\n\n',
    );
    expect(renderText(model)).not.toContain('No mock');
  });

  test('the list of repetitions says that it goes on, and keeps numbers with their unit', () => {
    const model = energyReport(energyCases());
    const by_trial = Array.from({ length: 14 }, () => 0.5);
    const stability = { by_trial, mean: 0.5, stdev: 0, expected_stdev: 0, mean_within_case_stdev: 0 };
    const text = renderText({ ...model, result: { ...model.result, stability } });
    const list = text.slice(text.indexOf('completion by repetition'), text.indexOf('stdev 0.000'));
    expect(list.trim().endsWith('50.0 %, …')).toBe(true);
    expect(list).not.toMatch(/50\.0\n/);
  });

  test.each([72, 80, 120])(
    'no line is wider than %d columns, commands and the comparison at 72 excepted',
    async (width) => {
      const cases = energyCases(UNSAFE);
      const comparison = width < 80 ? null : await compared(energyCases(), cases);
      const lines = renderText(energyReport(cases, comparison), { width }).split('\n');
      const wide = lines.filter((line) => displayWidth(line) > width && !line.includes(' assay '));
      expect(wide).toEqual([]);
    },
  );

  test('the first screen answers within 24 lines: verdict, worse, where, worst, do, cost, sure', async () => {
    const cases = energyCases(UNSAFE);
    const first = renderText(energyReport(cases, await compared(energyCases(), cases)))
      .split('\n')
      .slice(0, 24);
    expect(first[0]).toMatch(/^FAILED {2}energy/);
    for (const label of ['Worse', 'Where', 'Worst', 'Do', 'Cost', 'Sure']) {
      expect(first.some((line) => line.startsWith(label.padEnd(8)))).toBe(true);
    }
  });

  test('no colour unless asked; with colour the same text', () => {
    const model = energyReport(energyCases(UNSAFE));
    const plain = renderText(model);
    expect(plain).not.toContain('\u001b');
    const color = renderText(model, { color: true });
    expect(color).toContain('\u001b[31m');
    // oxlint-disable-next-line no-control-regex
    expect(color.replace(/\u001b\[\d+m/g, '')).toBe(plain);
  });

  test('an agent that never ran: how it ended leads Worst, and Do says nothing of tools', () => {
    const ending = `FAILED: the program ended with exit code 2 and without a result; it last wrote: can't open \u001b[2Jfile`;
    const broken = (id: string, index: number) =>
      completed(id, index, 0, {
        final_status: 'FAILED',
        no_answer: ending,
        scores: [score('tool_score', 0), score('tool_match', 0, { deciding: true, reason: 'wanted query, got none' })],
      });
    const cases = ['a', 'b', 'c', 'd'].map((id) => reduceCase(facts(id, 2), [broken(id, 1), broken(id, 2)]));
    const first = renderText(energyReport(cases)).split('\nDiagnosis')[0] ?? '';
    const line = (label: string): string => first.split('\n').find((one) => one.startsWith(label)) ?? '';
    expect(line('Where')).toBe('Where   8 failed trials: broken off without an answer 8');
    expect(line('Worst ')).toContain('8 of 8 trials ended FAILED: the program ended with exit code 2');
    expect(line('Do')).toContain('agent: Make it answer first: 8 of 8 trials broke off');
    expect(first).not.toContain('L2');
    expect(first).not.toContain('\u001b');
  });

  test('what has no verdict at all is not called unharmed against the baseline', async () => {
    const cases = energyCases().map(({ case_id }) => reduceCase(facts(case_id, 1), [errored(case_id, 1)]));
    const text = renderText(energyReport(cases, await compared(energyCases(), cases)));
    expect(text).toMatch(/^Worse   not known, nothing has a verdict; to be compared against baseline/m);
    expect(text).not.toContain('nothing against baseline');
  });

  test('the summary has a row for each judge dimension, retrieval metric and scorer of the user’s own', () => {
    const scores = (own: number | null) => [
      score('task_completion', 1, { deciding: true }),
      score('rag_recall', 0.5),
      score('multi_turn_coherence', 1),
      score('doc_ndcg', 0.75),
      score('brevity', own),
    ];
    const own_scorers = ['brevity', 'never'];
    const cases = ['a', 'b'].map((id, i) =>
      reduceCase(facts(id, 2, { own_scorers }), [
        completed(id, 1, 1, { scores: scores(0.25 + i / 2) }),
        completed(id, 2, 1, { scores: scores(i === 0 ? null : 0.75) }),
      ]),
    );
    const text = renderText(energyReport(cases));
    const row = (title: string): string => text.split('\n').find((line) => line.startsWith(`│ ${title} `)) ?? '';
    expect(row('RAG recall')).toMatch(/ 0\.500 .*2 of 2 cases, 4 of 4 trials/);
    expect(row('Multi turn coherence')).toContain(' 1.000 ');
    expect(row('Doc nDCG')).toContain(' 0.750 ');
    expect(row('brevity')).toMatch(/ 0\.500 .*2 of 2 cases, 3 of 4 trials/);
    expect(row('never')).toMatch(/ – .*0 of 2 cases, 0 of 4 trials/);
    expect(text).not.toContain('Doc recall');
  });

  test('hostile reasons stay inside their line', () => {
    const bad = completed('x', 1, 0, {
      scores: [score('task_completion', 0, { deciding: true, reason: 'a\n\u001b[2Jb\u202e' })],
    });
    const cases = [reduceCase(facts('x', 1), [bad])];
    const text = renderText(energyReport(cases));
    expect(text).not.toContain('\u001b');
    expect(text).toContain('task_completion: a [2Jb');
  });

  test('one case of one trial, and none at all', () => {
    const one = renderText(energyReport([reduceCase(facts('x', 1), [completed('x', 1, 1)])]));
    expect(one).toMatch(/^PASSED {2}energy .* 1 case, 1 trial\n/);
    expect(renderText(energyReport([]))).toMatch(/^INCOMPLETE /);
  });

  test('R21: 20,000 failing cases: a report of a few screens, numbers whole', () => {
    const cases = Array.from({ length: 20_000 }, (_, i) => {
      const id = `case-${String(i).padStart(6, '0')}`;
      return reduceCase(facts(id, 1, { category: `category ${i % 40}` }), [completed(id, 1, 0)]);
    });
    const text = renderText(energyReport(cases));
    expect(text.split('\n').length).toBeLessThan(120);
    expect(text).toContain('20,000 cases, 20,000 trials: 20,000 failed');
    expect(text).toContain('and 19,995 more cases that did not pass');
    expect(text).toContain('and 28 more');
  });
});

test('buildReport ranks the worst: violations, failed, flaky', () => {
  const model = energyReport(energyCases(UNSAFE));
  expect(model.worst.map((one) => one.case_id)).toEqual(['TC-011', 'TC-002', 'TC-003', 'TC-005', 'TC-007']);
  expect(model.worst[1]?.reasons).toHaveLength(1);
  expect(model.worst[1]?.reasons[0]?.trial_indexes).toEqual([1, 2, 3]);
});

test('buildReport says stopped for infrastructure, and points to resume', () => {
  const cases = [reduceCase(facts('x', 2), [completed('x', 1, 1)])];
  const base = energyReport(cases);
  const model = buildReport({
    ...base,
    result: aggregate(cases),
    cases,
    verdict: { exit_code: 4, summary: 'Stopped early: the key was refused' },
  });
  expect(model.verdict.word).toBe('STOPPED');
  expect(model.next_steps.map((step) => step.command)).toContain('assay resume ev-0042');
});
