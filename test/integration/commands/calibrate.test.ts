import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Calibration } from '../../../src/core/calibration.ts';
import { escapeText } from '../../../src/core/storable-text.ts';
import { reopenTrials } from '../../../src/db/reopen-trials.ts';
import { openWorkplace, type Workplace } from './assay.ts';

const NUL_CASE = 'a\u0000b\ud800';
const CASES = ['c1', 'c2', 'c3', NUL_CASE, 'red'];

/** An evaluation with stored verdicts of a judge, and people who disagree with some of them. */
describe('calibrate on a stored evaluation', () => {
  let place: Workplace;

  beforeAll(async () => {
    place = await openWorkplace({ cases: CASES, expect: { red: 'something else' } });
    const ran = await place.run('run', 'suite.yaml', '--id', 'judged-1');
    expect(ran.code).toBe(1);
    // The judge says 5, 4, 1 of three cases; it was asked of the fourth in vain, and never of the fifth.
    for (const [i, value] of [1, 0.75, 0, null].entries()) {
      const key = { evaluation_id: 'judged-1', case_id: escapeText(CASES[i] ?? ''), trial_index: 1 };
      await place.db
        .insertInto('score')
        .values({
          ...key,
          scorer: 'rag_recall',
          dimension: 'rag_recall',
          value,
          passed: value === null ? null : value >= 0.625,
          deciding: false,
          violation: false,
          reason: 'as judged',
          details: 'null',
        })
        .execute();
      await place.db
        .insertInto('judge_verdict')
        .values({
          ...key,
          dimension: 'rag_recall',
          vote: 0,
          prompt_hash: 'p'.repeat(64),
          model: 'judge-1',
          params: '{}',
          raw_reply: null,
          parsed: 'null',
          value,
          passed: null,
          unscored_cause: null,
          reason: null,
          cached_from: null,
        })
        .execute();
    }
    const deterministic = { evaluation_id: 'judged-1', case_id: 'red', trial_index: 1, scorer: 'rag_recall' };
    await place.db
      .insertInto('score')
      .values({
        ...deterministic,
        dimension: 'rag_recall',
        value: 0,
        passed: false,
        deciding: false,
        violation: false,
        reason: 'settled without a judge',
        details: 'null',
      })
      .execute();
  });
  afterAll(() => place.close());

  const line = (caseId: string, label: unknown, more: object = {}): string =>
    JSON.stringify({ caseId, trial: 1, dimension: 'rag_recall', label, reviewer: 'lin', ...more });

  test('without labels there is nothing to compare', async () => {
    const ran = await place.run('calibrate', 'latest');
    expect(ran.code).toBe(3);
    expect(ran.err).toContain('Evaluation judged-1 has no human labels yet.');
  });

  test('a file with a bad line stores nothing, and says what is wrong with every line', async () => {
    place.write(
      'bad.jsonl',
      [
        line('c1', 5),
        line('nobody', 3),
        line('c2', 9),
        line('c3', 'pass', { dimension: 'rag_recal' }),
        line('c3', 2, { reviewer: '' }),
      ].join('\n'),
    );
    const ran = await place.run('calibrate', 'judged-1', '--labels', 'bad.jsonl');
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('bad.jsonl:3:');
    expect(ran.err).toContain('label "9" of rag_recall: expected 1, 2, 3, 4 or 5');
    expect(ran.err).toContain('did you mean "rag_recall"?');
    expect(ran.err).toContain('expected a "reviewer"');
    place.write('bad.jsonl', [line('c1', 5), line('nobody', 3)].join('\n'));
    const unknown = await place.run('calibrate', 'judged-1', '--labels', 'bad.jsonl');
    expect(unknown.code).toBe(2);
    expect(unknown.err).toContain('has no trajectory of case "nobody", trial 1');
    expect((await place.run('calibrate', 'judged-1')).code).toBe(3);
  });

  test('labels are stored and compared with the judge; what it gave no verdict on is counted', async () => {
    const rows = [line('c1', 5), line('c2', 2), line('c3', 1), line(NUL_CASE, 4), line('red', 1), line('c1', '')];
    place.write('labels.jsonl', rows.join('\n'));
    const ran = await place.run('calibrate', 'judged-1', '--labels', 'labels.jsonl');
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('5 labels stored; 1 line has no label yet');
    expect(ran.out).toContain('the judge agrees with 66.7 % of the human labels (3 of 5 labels compared)');
    expect(ran.out).toMatch(/c2 1 +2 +4 +lin/);
    const json = JSON.parse((await place.run('calibrate', 'judged-1', '--json')).out) as Calibration;
    expect(json.groups).toMatchObject([
      { dimension: 'rag_recall', prompt_hash: 'p'.repeat(64), labels: 4, unscored: 1, needs_work: true },
      // Settled by a check: the judge was not asked, with no prompt.
      { dimension: 'rag_recall', prompt_hash: null, labels: 1, unscored: 1, needs_work: false },
    ]);
  });

  test('a label given again replaces the one before; another reviewer stands beside', async () => {
    place.write('again.csv', 'case_id,dimension,human\nc2,rag_recall,4\n');
    const ran = await place.run('calibrate', 'judged-1', '--labels', 'again.csv', '--reviewer', 'lin');
    expect(ran.code).toBe(0);
    const other = await place.run('calibrate', 'judged-1', '--labels', 'again.csv', '--reviewer', 'wu', '--json');
    const judged = (JSON.parse(other.out) as Calibration).groups.find(({ prompt_hash }) => prompt_hash !== null);
    expect(judged).toMatchObject({
      labels: 5,
      reviewers: ['lin', 'wu'],
      agreement: { pairs: 4, clusters: 3, agreement: { value: 1 } },
      reviewer_pairs: [{ first: 'lin', second: 'wu', agreement: { pairs: 1 } }],
    });
  });

  test('the report has it: the table, and the cases behind a rubric that needs work', async () => {
    place.write('worse.jsonl', [line('c1', 1), line('c2', 1)].join('\n'));
    await place.run('calibrate', 'judged-1', '--labels', 'worse.jsonl');
    const text = (await place.run('report', 'judged-1')).out;
    expect(text).toContain('Judge and humans');
    expect(text).toContain('rubric: the judge of rag_recall agrees with');
    expect(text).toMatch(/cases: c1, c2/);
    const json = JSON.parse((await place.run('report', 'judged-1', '--format', 'json')).out) as {
      calibration: Calibration;
    };
    expect(json.calibration.groups).toHaveLength(2);
  });

  test('review writes each verdict without saying what it was; filled in, it is what calibrate takes', async () => {
    const ran = await place.run('review', 'judged-1', '--json');
    expect(ran.code, ran.err).toBe(0);
    expect(JSON.parse(ran.out)).toMatchObject({ evaluation: 'judged-1', verdicts: 3, sampled: 3, out: 'review.jsonl' });
    const file = path.join(place.folder, 'review.jsonl');
    const text = readFileSync(file, 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as Record<string, unknown>);
    // A verdict for each of three cases; none where the judge failed, and none that a check settled.
    expect(lines.map((line) => String(line['caseId'])).toSorted()).toEqual(['c1', 'c2', 'c3']);
    expect(lines.find(({ caseId }) => caseId === 'c2')).toEqual({
      caseId: 'c2',
      trial: 1,
      dimension: 'rag_recall',
      label: '',
      reviewer: '',
      scale: '1, 2, 3, 4 or 5',
      asked: { input: 'Say c2' },
      expected: { answer_contains: ['c2 said'] },
      answer: 'c2 said',
      tool_calls: [],
      final_status: 'COMPLETED',
    });
    expect(text).not.toContain('as judged');
    const again = await place.run('review', 'judged-1');
    expect(again).toMatchObject({ code: 2 });
    expect(again.err).toContain('review.jsonl is there already');
    expect((await place.run('review', 'judged-1', '--out', 'same.jsonl')).out).toContain(
      '3 of 3 verdicts → same.jsonl',
    );
    expect(readFileSync(path.join(place.folder, 'same.jsonl'), 'utf8')).toBe(text);
    place.write('review.jsonl', lines.map((one) => JSON.stringify({ ...one, label: 4, reviewer: 'may' })).join('\n'));
    const taken = await place.run('calibrate', 'judged-1', '--labels', 'review.jsonl', '--json');
    expect(taken.err).toContain('3 labels stored');
    const group = (JSON.parse(taken.out) as Calibration).groups.find(({ prompt_hash }) => prompt_hash !== null);
    expect(group?.reviewers).toContain('may');
  });

  test('review of an evaluation without a judge says that there is nothing to label', async () => {
    expect((await place.run('run', 'suite.yaml', '--new', '--id', 'plain-1')).code).toBe(1);
    const ran = await place.run('review', 'plain-1', '--out', 'none.jsonl');
    expect(ran.code).toBe(3);
    expect(ran.err).toContain('The judge was not asked in plain-1');
  });

  test('a trial that is run anew loses its labels: they were about what it did before', async () => {
    expect(await reopenTrials(place.db, 'judged-1', { failed: true })).toBe(1);
    const rows = await place.db.selectFrom('human_label').select('case_id').distinct().execute();
    expect(rows.map(({ case_id }) => case_id).sort()).toEqual([NUL_CASE, 'c1', 'c2', 'c3'].sort());
  });
});
