import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerCalibrate } from '../../../src/commands/results/calibrate.ts';
import type { Calibration } from '../../../src/core/calibration.ts';
import { InputError, UserError } from '../../../src/core/errors.ts';
import { publicData } from '../../fixtures/public-data.ts';
import { folderWith } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

const folder = await folderWith({});

async function calibrate(file: string, text: string, ...flags: string[]) {
  writeFileSync(path.join(folder, file), text);
  return runCommand(registerCalibrate, ['calibrate', '--labels', file, ...flags], { cwd: folder });
}

const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

function quality(human: string[], judge: (string | null)[]): object[] {
  return human.map((label, i) => ({
    caseId: `c${String(i + 1).padStart(2, '0')}`,
    dimension: 'answer_quality',
    label,
    judge: judge[i],
    reviewer: 'lin',
  }));
}

describe('assay calibrate on a file with both sides', () => {
  test('agreement under 0.85: exit code 1, what needs work and which cases', async () => {
    const human = ['pass', 'pass', 'pass', 'fail', 'pass', 'fail', 'pass', 'pass'];
    const judge = ['pass', 'pass', 'fail', 'fail', 'pass', 'pass', 'pass', null];
    const ran = await calibrate('labels.jsonl', lines(quality(human, judge)));
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain('the judge agrees with 71.4 % of the human labels (7 of 8 labels compared)');
    expect(ran.stdout).toContain('The rubric of answer_quality needs work');
    expect(ran.stdout).toContain('1 without a verdict of the judge');
    expect(ran.stdout).toMatch(/c03 1 +pass +fail +lin/);
    expect(ran.stdout).toMatch(/c06 1 +fail +pass +lin/);
    expect(ran.stdout).not.toContain('c04 1');
    // po = 5/7, pe = (5·5 + 2·2)/49
    expect(ran.stdout).toContain('0.300');
  });

  test('--json: everything; --min moves the limit and with it the exit code', async () => {
    const rows = quality(['pass', 'fail', 'pass', 'pass'], ['pass', 'fail', 'pass', 'fail']);
    const ran = await calibrate('labels.jsonl', lines(rows), '--min', '0.75', '--json');
    expect(ran.exitCode).toBe(0);
    const said = JSON.parse(ran.stdout) as Calibration;
    expect(said).toMatchObject({ schema: 'assay.calibration/1', labels: 4, compared: 4, agreement: 0.75, limit: 0.75 });
    expect(said.groups[0]).toMatchObject({
      dimension: 'answer_quality',
      scale: ['fail', 'pass'],
      agreement: {
        confusion: [
          [1, 0],
          [1, 2],
        ],
        weighted_kappa: null,
      },
      needs_work: false,
      disagreements: [{ case_id: 'c04', trial: 1, reviewer: 'lin', human: 'pass', judge: 'fail' }],
    });
    expect((await calibrate('labels.jsonl', lines(rows), '--min', '0.76')).exitCode).toBe(1);
  });

  test('CSV, numbers for words, a scale of the judge: weighted kappa over 1 to 5', async () => {
    const csv =
      'caseId,trial,dimension,label,judge,reviewer\nc1,1,rag_recall,5,4,lin\nc1,2,rag_recall,5.0,5,lin\nc2,1,rag_recall,1,1,wu\n';
    const ran = await calibrate('labels.csv', csv, '--json');
    const [group] = (JSON.parse(ran.stdout) as Calibration).groups;
    expect(group).toMatchObject({ scale: ['1', '2', '3', '4', '5'], ordinal: true, reviewers: ['lin', 'wu'] });
    // clustered: two labels of one case
    expect(group?.agreement).toMatchObject({ pairs: 3, clusters: 2 });
    // disagreement 1/16 over 3; chance: rows (1,0,0,0,2)/3, columns (1,0,0,1,1)/3: (9 + 16 + 2·16 + 2·1)/9 /16
    expect(group?.agreement?.weighted_kappa?.value).toBeCloseTo(1 - 1 / 3 / (59 / 9), 12);
  });

  test('judge prompts are apart: another prompt is another judge', async () => {
    const rows = quality(['pass', 'fail'], ['pass', 'pass']).map((row, i) => ({ ...row, promptHash: `p${i}` }));
    const said = JSON.parse((await calibrate('labels.jsonl', lines(rows), '--json')).stdout) as Calibration;
    expect(said.groups.map((group) => [group.prompt_hash, group.needs_work])).toEqual([
      ['p0', false],
      ['p1', true],
    ]);
  });

  test('no scale declared: categories found, no weighted kappa, and it says so', async () => {
    const rows = [1, 2, 3, 3].map((label, i) => ({
      caseId: `c${i}`,
      dimension: 'tone',
      label,
      judge: 3,
      reviewer: 'a',
    }));
    const ran = await calibrate('labels.jsonl', lines(rows), '--json');
    expect(ran.stderr).toContain('tone: no scale declared');
    expect((JSON.parse(ran.stdout) as Calibration).groups[0]?.agreement?.weighted_kappa).toBeNull();
    const declared = await calibrate('labels.jsonl', lines(rows), '--json', '--scale', '1,2,3');
    expect(declared.stderr).toBe('');
    expect((JSON.parse(declared.stdout) as Calibration).groups[0]?.agreement?.weighted_kappa?.value).toBe(0);
  });

  test('nothing to compare: exit code 3', async () => {
    expect((await calibrate('labels.jsonl', lines(quality(['pass'], [null])))).exitCode).toBe(3);
    await expect(calibrate('labels.jsonl', lines(quality([''], ['pass'])))).rejects.toMatchObject({ exitCode: 3 });
  });

  test('every bad line at once, with its place', async () => {
    const text = lines([
      { caseId: 'a', dimension: 'rag_recall', label: 6, judge: 5 },
      { caseId: 'b', dimension: 'task_completion', label: 'success', judge: 'sucess' },
      { caseId: 'c', dimension: 'answer_quality', label: 1.5, judge: 'pass' },
    ]);
    const error = await calibrate('labels.jsonl', text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect((error as InputError).message.split('\n')).toEqual([
      'labels.jsonl:1:48: error: rag_recall of case a: label "6": expected 1, 2, 3, 4 or 5',
      'labels.jsonl:2:53: error: task_completion of case b: judge "sucess": expected failure, partial or success',
      'labels.jsonl:3:52: error: answer_quality of case c: label "1.5": expected fail or pass, or a number from 0 to 1 (passes from 0.75)',
    ]);
  });

  test.each<[string, string, RegExp]>([
    ['labels.jsonl', '{"dimension": "x", "label": 1, "judge": 1}', /"caseId": expected the id of a case, got nothing/],
    [
      'labels.jsonl',
      '{"caseId": "a", "trial": 0, "dimension": "x", "label": 1}',
      /:1:26: error: "trial": expected a whole/,
    ],
    ['labels.jsonl', '{"caseId": "a", "dimension": "x", "label": [1]}', /"label": expected a text, a number/],
    ['labels.jsonl', '{"caseId": "a", "trial": true, "dimension": "x", "label": 1}', /:1:26: error: "trial": expected/],
    ['labels.jsonl', '{"caseId": "a", "trial": [2], "dimension": "x", "label": 1}', /:1:26: error: "trial": expected/],
    [
      'labels.jsonl',
      '{"caseId": "a", "dimension": "x", "label": 1, "reviewer": {"a": 1}}',
      /"reviewer": expected a name/,
    ],
    [
      'labels.jsonl',
      '{"caseId": "a", "dimension": "x", "label": 1, "promptHash": []}',
      /"promptHash": expected the hash/,
    ],
    [
      'labels.jsonl',
      '{"caseId": "a", "dimension": "x", "label": 1}\n{"case_id": "a", "dimension": "x", "human": 2}',
      /:2:.* somebody unnamed labelled x of case a, trial 1, twice/,
    ],
    ['labels.jsonl', '[1]', /expected \{"caseId"/],
    ['labels.jsonl', '{"caseId": "a", ', /labels.jsonl:1:/],
    ['labels.csv', 'caseId,label\na,1\n', /no column "dimension"; the columns are caseId, label/],
    ['labels.txt', 'x', /expected labels as .jsonl/],
    ['labels.jsonl', '{"caseId": "a", "dimension": "rag_recall", "label": 1}', /has no "judge" beside its labels/],
  ])('%s: %s', async (file, text, wanted) => {
    const error = await calibrate(file, text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).exitCode).toBe(2);
    expect((error as UserError).message).toMatch(wanted);
  });

  test('a slip in a key is named instead of a line without a label; keys of the user’s own are passed over', async () => {
    const row = { caseId: 'a', dimension: 'answer_quality', lable: 'pass', judge: 'pass' };
    const caught: unknown = await calibrate('slip.jsonl', lines([row])).catch((error: unknown) => error);
    if (!(caught instanceof InputError)) throw caught;
    expect(caught.problems).toMatchObject([{ line: 1, message: 'unknown key "lable" (did you mean "label"?)' }]);
    const fine = { caseId: 'a', dimension: 'answer_quality', label: 'pass', judge: 'pass', labels: 2, input: 'x' };
    expect((await calibrate('fine.jsonl', lines([fine]))).exitCode).toBe(0);
  });

  test('neither an evaluation nor a file, and a missing file', async () => {
    const nothing = runCommand(registerCalibrate, ['calibrate'], { cwd: folder });
    await expect(nothing).rejects.toThrow('Name an evaluation, a file of labels, or both.');
    const missing = runCommand(registerCalibrate, ['calibrate', '--labels', 'no.jsonl'], { cwd: folder });
    await expect(missing).rejects.toThrow(/no\.jsonl: error: /);
  });

  test('names of cases and reviewers cannot move the cursor', async () => {
    const rows = [
      { caseId: '\u001b[2Jx', dimension: 'answer_quality', label: 'pass', judge: 'fail', reviewer: '\u001b]0;y' },
    ];
    expect((await calibrate('labels.jsonl', lines(rows))).stdout).not.toContain('\u001b');
  });
});

interface MtragRow {
  id: string;
  human: Record<string, number[]>;
  llm: Record<string, number>;
}
const mtrag = publicData('mtrag_human.jsonl');

describe.runIf(mtrag.use)('MT-RAG labels imported', () => {
  /** Of test/fixtures/reference/agreement.py: scikit-learn 1.9.1, scipy 1.17.1. */
  const reference = JSON.parse(
    readFileSync(new URL('../../fixtures/reference/agreement.json', import.meta.url), 'utf8'),
  ) as {
    mtrag: Record<
      string,
      {
        raters: { agreement: number; kappa: number; weighted_kappa: number };
        judges: Record<string, { spearman: number }>;
      }
    >;
  };

  test('first against second rater, and Spearman with each automatic judge, as scikit-learn and scipy have them', async () => {
    const rows = mtrag
      .rows<MtragRow>()
      .flatMap(({ id, human, llm }) =>
        Object.entries(llm).flatMap(([promptHash, judge]) =>
          Object.entries(human).flatMap(([dimension, ratings]) =>
            ratings.map((label, i) => ({ caseId: id, dimension, label, reviewer: `r${i + 1}`, judge, promptHash })),
          ),
        ),
      );
    const ran = await calibrate('mtrag.jsonl', lines(rows), '--scale', '1,2,3,4', '--json');
    expect(ran.exitCode).toBe(0);
    const { groups } = JSON.parse(ran.stdout) as Calibration;
    expect(groups.length).toBe(12);
    for (const group of groups) {
      const wanted = reference.mtrag[group.dimension]!;
      const raters = group.reviewer_pairs.find(({ first, second }) => first === 'r1' && second === 'r2')?.agreement;
      expect(raters?.agreement?.value).toBeCloseTo(wanted.raters.agreement, 9);
      expect(raters?.kappa?.value).toBeCloseTo(wanted.raters.kappa, 9);
      expect(raters?.weighted_kappa?.value).toBeCloseTo(wanted.raters.weighted_kappa, 9);
      expect(group.spearman?.value).toBeCloseTo(wanted.judges[group.prompt_hash ?? '']!.spearman, 9);
      // The judges give numbers that are on no scale of 1 to 4: there is nothing to agree on.
      expect(group.agreement).toBeNull();
    }
  });
});
