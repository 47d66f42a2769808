import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMED_QUERIES } from '../../../src/db/named-queries.ts';
import { openWorkplace, startDetached, untilEnded, type Workplace } from './assay.ts';

const NUL_CASE = 'a\u0000b\ud800';
const CASES = ['green', 'red', '数据查询', NUL_CASE];

/** Commands over one evaluation that has ended: three cases pass, one fails; one id has a NUL and a lone surrogate. */
describe('commands over a stored evaluation', () => {
  let place: Workplace;
  let id: string;

  beforeAll(async () => {
    place = await openWorkplace({ cases: CASES, trials: 2, expect: { red: 'something else' } });
    const ran = await place.run('run', 'suite.yaml', '--id', 'stored-1', '--label', 'branch=main');
    expect(ran.err).toContain('evaluation stored-1');
    expect(ran.code).toBe(1);
    id = 'stored-1';
  });
  afterAll(() => place.close());

  test('status tells verdict and how to go on', async () => {
    const text = await place.run('status');
    expect(text.code).toBe(0);
    expect(text.out).toContain('stored-1  completed');
    expect(text.out).toContain('8 of 8 ended: 6 passed, 2 failed');
    expect(text.out).toContain('assay report stored-1');
    const json = JSON.parse((await place.run('status', id, '--json')).out) as Record<string, unknown>;
    expect(json).toMatchObject({
      evaluation_id: 'stored-1',
      status: 'completed',
      trials: { planned: 8, ended: 8, passed: 6, failed: 2 },
      eta_s: null,
      exit_code: 1,
    });
  });

  test('list is a table, filters, and prints JSON', async () => {
    expect((await place.run('list')).out).toMatch(/^stored-1 +tiny +completed +\S+ \S+ +8 +75\.0 % +Failed/m);
    expect((await place.run('list', '--status', 'stopped')).out).toContain('no evaluation fits');
    const json = JSON.parse((await place.run('list', '--suite', 'tiny', '--json')).out) as unknown[];
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({ evaluation_id: 'stored-1', labels: { branch: 'main' }, completion_rate: 0.75 });
    expect((await place.run('list', '--status', 'nope')).code).toBe(2);
  });

  test('an id may be a beginning or `latest`; a wrong one names those near it', async () => {
    expect((await place.run('status', 'stored')).out).toContain('stored-1');
    expect((await place.run('status', 'latest')).out).toContain('stored-1');
    const wrong = await place.run('status', 'storde-1');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('Near it: stored-1');
  });

  test('show: evaluation, case and trial', async () => {
    const evaluation = await place.run('show', id);
    expect(evaluation.out).toMatch(/^red +failed +0\/2/m);
    const one = await place.run('show', id, 'red');
    expect(one.out).toContain('trials 1, 2 failed');
    expect(one.out).toContain('something else');
    const trial = await place.run('show', id, 'red', '2');
    expect(trial.out).toContain('Say red');
    expect(trial.out).toContain('red said');
    expect(trial.out).toMatch(/FAIL +answer_contains +0\.000 +deciding/);
    const json = JSON.parse((await place.run('show', id, 'red', '2', '--json')).out) as Record<string, unknown>;
    expect(json['trial']).toMatchObject({ status: 'failed', trial_index: 2 });
    expect(json['model_calls']).toHaveLength(1);
    expect((await place.run('show', id, 'read')).err).toContain('Near it: red');
    expect((await place.run('show', id, 'red', '3')).err).toContain('has 2 trials, not 3');
    expect((await place.run('show', id, 'red', '0')).code).toBe(2);
  });

  test('D5: reports and show open with NUL characters and lone surrogates', async () => {
    const report = await place.run('report', id);
    expect(report.code).toBe(0);
    const json = JSON.parse((await place.run('report', id, '--format', 'json')).out) as {
      cases: { case_id: string }[];
    };
    expect(json.cases.map((one) => one.case_id).sort()).toEqual([...CASES].sort());
    const shown = await place.run('show', id, NUL_CASE, '1');
    expect(shown.code).toBe(0);
    expect(shown.out).not.toContain('\u0000');
    const stored = JSON.parse((await place.run('show', id, NUL_CASE, '1', '--json')).out) as {
      trial: { case_id: string };
    };
    expect(stored.trial.case_id).toBe(NUL_CASE);
  });

  test('report writes several formats into a folder, none twice to the terminal', async () => {
    const ran = await place.run('report', id, '--format', 'text,json', '--out', 'reports');
    expect(ran.code).toBe(0);
    const text = readFileSync(path.join(place.folder, 'reports/report.txt'), 'utf8');
    expect(text).toContain('FAILED');
    const json = JSON.parse(readFileSync(path.join(place.folder, 'reports/report.json'), 'utf8')) as { schema: string };
    expect(json.schema).toBe('assay.report/1');
    expect((await place.run('report', id, '--format', 'text,json')).code).toBe(2);
    expect((await place.run('report', id, '--format', 'pdf')).err).toContain('Expected one or more of text, json');
  });

  test('gate: the verdict is the exit code; nothing is stored without --save', async () => {
    const gate = await place.run('gate', id, '--json');
    expect(gate.code).toBe(1);
    const json = JSON.parse(gate.out) as {
      exit_code: number;
      baseline: null;
      gates: { gate: string; verdict: string }[];
    };
    expect(json.baseline).toBeNull();
    expect(json.gates.find((one) => one.gate === 'completion_rate')).toMatchObject({ verdict: 'failed' });
    expect((await place.run('gate', id, '--baseline', 'nope')).err).toContain('no baseline "nope"');
  });

  test('sql: named queries, selects, nothing that writes, no password', async () => {
    const hint = await place.run('sql');
    expect(hint.out).toContain('assay sql regressions');
    expect(hint.out).toContain(':***@');
    expect((await place.run('sql', '--show-password')).out).toContain(new URL(place.databaseUrl).password);
    const summary = JSON.parse((await place.run('sql', 'summary', '--json')).out) as unknown[];
    expect(summary[0]).toMatchObject({ evaluation_id: 'stored-1', completion: 0.75, case_pass: 0.75 });
    for (const { name } of NAMED_QUERIES)
      expect(await place.run('sql', name), name).toMatchObject({ code: 0, err: '' });
    expect((await place.run('sql', 'failures', '--json')).out).toContain('"scorer": "answer_contains"');
    const rows = await place.run(
      'sql',
      'select case_id from evaluation_case order by position',
      '--limit',
      '2',
      '--json',
    );
    expect(JSON.parse(rows.out)).toEqual([{ case_id: 'green' }, { case_id: 'red' }]);
    expect(rows.err).toContain('only the first 2 rows');
    for (const writing of [
      'delete from trial',
      'select 1; delete from trial',
      'with d as (delete from trial returning 1) select * from d',
    ]) {
      const refused = await place.run('sql', writing);
      expect(refused.code).toBe(2);
      expect(refused.err).toContain('Postgres refuses');
    }
    expect((await place.run('sql', 'select count(*)::integer as n from trial', '--json')).out).toContain('"n": 8');
    expect((await place.run('sql', 'select nope')).err).toContain('(at character 8)');
    expect((await place.run('sql', 'sumary')).err).toContain('did you mean "summary"');
  });

  test('baseline: only what is complete; deleting it is refused', async () => {
    expect((await place.run('baseline', 'set', id, '--note', 'first')).code).toBe(0);
    expect((await place.run('baseline', 'list')).out).toMatch(/^tiny +main +stored-1 +75\.0 %/m);
    expect((await place.run('baseline', 'show', 'tiny', '--json')).out).toContain('"note": "first"');
    expect((await place.run('baseline', 'show', 'tiny', '--label', 'other')).err).toContain('It has: main');
    const refused = await place.run('delete', id, '--yes');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('is the baseline main of tiny');
    const retry = await place.run('retry', id, '--failed');
    expect(retry.code).toBe(2);
    expect(retry.err).toContain('is the baseline main of tiny');
    const running = await startDetached(place, '--id', 'running-1', '--new');
    const early = await place.run('baseline', 'set', running);
    expect(early.code).toBe(2);
    expect(early.err).toContain('it is running, not completed');
    expect((await place.run('gate', running)).code).toBe(3);
    expect((await place.run('report', running)).code).toBe(3);
    expect((await place.run('delete', running, '--yes')).err).toContain('assay cancel running-1');
  });

  test('gate compares with the baseline as it is pinned now', async () => {
    const ran = await place.run('run', 'suite.yaml', '--id', 'second-1', '--trials', '1');
    expect(ran.code).toBe(1);
    const json = JSON.parse((await place.run('gate', 'second-1', '--json')).out) as { baseline: string };
    expect(json.baseline).toBe('stored-1');
    expect((await place.run('baseline', 'set', 'second-1')).out).toContain('(before: stored-1)');
    const after = JSON.parse((await place.run('gate', 'second-1', '--json')).out) as { baseline: null };
    expect(after.baseline).toBeNull();
    const saved = await place.run('gate', id, '--save', '--json');
    expect(JSON.parse(saved.out)).toMatchObject({ baseline: 'second-1' });
    const report = JSON.parse((await place.run('report', id, '--json')).out) as { comparison: unknown };
    expect(report.comparison).toMatchObject({ baseline_evaluation_id: 'second-1' });
    expect((await place.run('delete', id)).err).toContain('was not deleted');
    expect((await place.run('delete', id, '--yes')).code).toBe(0);
    expect((await place.run('status', id)).code).toBe(2);
  });
});

test('retry runs failed trials again and keeps the others', async () => {
  const place = await openWorkplace({ cases: ['one', 'two'], expect: { two: 'nothing like it' } });
  try {
    expect((await place.run('run', 'suite.yaml', '--id', 'retry-1')).code).toBe(1);
    const nothing = await place.run('retry', 'retry-1');
    expect(nothing.err).toContain('nothing to retry');
    expect(nothing.code).toBe(1);
    const before = await place.run('sql', 'select case_id, fence from trial order by 1', '--json');
    const again = await place.run('retry', 'retry-1', '--failed');
    expect(again.err).toContain('1 trial opened again, 1 to run');
    expect(again.code).toBe(1);
    const after = await place.run('sql', 'select case_id, fence from trial order by 1', '--json');
    const [oneBefore, twoBefore] = JSON.parse(before.out) as { fence: number }[];
    const [oneAfter, twoAfter] = JSON.parse(after.out) as { fence: number }[];
    expect(oneAfter).toEqual(oneBefore);
    expect(twoAfter?.fence).toBeGreaterThan(twoBefore?.fence ?? Infinity);
    await untilEnded(place.db, 'retry-1', 2);
  } finally {
    await place.close();
  }
});
