import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  categoryOf,
  declaredScale,
  LABEL_SCALES,
  labelOfScore,
  labelScale,
  scaleText,
} from '../../../src/core/label-scale.ts';
import type { LabelScale } from '../../../src/core/label-scale.ts';
import { JUDGE_DIMENSIONS } from '../../../src/core/suite.ts';
import { DIMENSIONS } from '../../../src/judge/dimensions/dimensions.ts';
import { displayWidth } from '../../../src/report/align.ts';
import { renderCalibration } from '../../../src/report/calibration-text.ts';
import { calibrate } from '../../../src/statistics/calibration.ts';
import type { LabelPair } from '../../../src/statistics/calibration.ts';
import { diagnoseRubric } from '../../../src/statistics/diagnose.ts';

function label(case_id: string, human: LabelPair['human'], judge: LabelPair['judge'], more: Partial<LabelPair> = {}) {
  return { case_id, trial: 1, dimension: 'answer_quality', reviewer: 'lin', prompt_hash: 'p', human, judge, ...more };
}

/** `equal` labels the judge shares and `other` it does not, each of a case of its own. */
function labels(equal: number, other: number): LabelPair[] {
  return Array.from({ length: equal + other }, (_, i) =>
    label(
      `c${String(i).padStart(3, '0')}`,
      i % 2 === 0 ? 'pass' : 'fail',
      (i % 2 === 0) === i < equal ? 'pass' : 'fail',
    ),
  );
}

describe('the limit of 0.85', () => {
  test.each([
    [17, 3, false],
    [16, 3, true],
    [85, 15, false],
    [84, 16, true],
  ])('%d of the labels shared, %d not', (equal, other, needsWork) => {
    const shared = labels(equal, 0);
    const apart = Array.from({ length: other }, (_, i) => label(`x${i}`, 'pass', 'fail'));
    const [group] = calibrate([...shared, ...apart], labelScale).groups;
    expect(group?.agreement?.agreement?.value).toBeCloseTo(equal / (equal + other), 12);
    expect(group?.needs_work).toBe(needsWork);
    expect(group?.disagreements.length).toBe(other);
  });

  test('the diagnosis names the dimension and the cases', () => {
    const calibration = calibrate(
      [...labels(2, 0), label('x', 'pass', 'fail'), label('y', 'fail', 'pass')],
      labelScale,
    );
    expect(diagnoseRubric(calibration)).toEqual([
      {
        layer: 'rubric',
        symptom: 'the judge of answer_quality agrees with 50.0 % of the human labels, under 85.0 %',
        action: 'Make the rubric checkable; look at the cases they disagree on.',
        case_ids: ['x', 'y'],
        cases: 2,
      },
    ]);
    expect(diagnoseRubric(calibrate(labels(20, 0), labelScale))).toEqual([]);
  });
});

describe('groups', () => {
  test('by dimension and prompt; labels without a verdict are counted, not compared', () => {
    const {
      groups,
      labels: all,
      compared,
      agreement,
    } = calibrate(
      [
        label('a', 'pass', 'pass'),
        label('b', 'pass', null),
        label('a', 'pass', 'fail', { prompt_hash: 'q' }),
        label('a', '4', '5', { dimension: 'rag_recall' }),
      ],
      labelScale,
    );
    expect([all, compared, agreement]).toEqual([4, 3, 1 / 3]);
    expect(groups.map((one) => [one.dimension, one.prompt_hash, one.labels, one.unscored])).toEqual([
      ['answer_quality', 'p', 2, 1],
      ['answer_quality', 'q', 1, 0],
      ['rag_recall', 'p', 1, 0],
    ]);
  });

  test('disagreements: the widest first, then by case', () => {
    const [group] = calibrate(
      [label('a', 4, 5), label('b', 1, 5), label('c', 3, 3), label('d', 5, 4), label('e', 2, 5)].map((one) => ({
        ...one,
        dimension: 'rag_recall',
      })),
      labelScale,
    ).groups;
    expect(group?.disagreements.map(({ case_id, human, judge }) => `${case_id} ${human} ${judge}`)).toEqual([
      'b 1 5',
      'e 2 5',
      'a 4 5',
      'd 5 4',
    ]);
  });

  test('reviewers against each other, on what both labelled', () => {
    const by = (reviewer: string, values: number[]): LabelPair[] =>
      values.map((human, i) => label(`c${i}`, human, 3, { reviewer, dimension: 'rag_recall' }));
    const [group] = calibrate(
      [...by('wu', [1, 2, 3, 4]), ...by('lin', [1, 2, 3, 5]), ...by('zoe', [])],
      labelScale,
    ).groups;
    expect(group?.reviewers).toEqual(['lin', 'wu']);
    expect(group?.reviewer_pairs).toMatchObject([
      { first: 'lin', second: 'wu', agreement: { pairs: 4, agreement: { value: 0.75 } }, spearman: { value: 1 } },
    ]);
  });

  test('Spearman is of the mean human number of a trial with the judge', () => {
    const of = (case_id: string, human: number, judge: number, reviewer: string): LabelPair =>
      label(case_id, human, judge, { reviewer, dimension: 'tone' });
    const pairs = [of('a', 1, 0.2, 'x'), of('a', 4, 0.2, 'y'), of('b', 2, 0.5, 'x'), of('c', 3, 0.9, 'x')];
    // means 2.5, 2, 3 against .2, .5, .9: ranks 2, 1, 3 against 1, 2, 3: r = 1 - 6·2/24
    const [group] = calibrate(pairs, () => null).groups;
    expect(group?.spearman?.value).toBe(0.5);
    expect(group).toMatchObject({ agreement: null, scale: null, needs_work: false });
  });

  test('the order of the labels does not matter, to the bit', () => {
    const one = fc.record({
      case_id: fc.constantFrom('a', 'b', 'c'),
      trial: fc.integer({ min: 1, max: 3 }),
      dimension: fc.constantFrom('rag_recall', 'answer_completeness'),
      reviewer: fc.constantFrom('x', 'y'),
      prompt_hash: fc.constantFrom('p', null),
      human: fc.integer({ min: 1, max: 5 }),
      judge: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    });
    const list = fc.uniqueArray(one, {
      selector: ({ human: _human, judge: _judge, ...key }) => JSON.stringify(key),
      maxLength: 30,
    });
    fc.assert(
      fc.property(list, fc.infiniteStream(fc.nat()), (pairs, keys) => {
        const shuffled = pairs
          .map((pair) => ({ pair, key: keys.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ pair }) => pair);
        expect(calibrate(shuffled, labelScale)).toEqual(calibrate(pairs, labelScale));
      }),
    );
  });
});

describe('scales of labels', () => {
  test('every judge dimension has one, of its own kind, with its own threshold', () => {
    for (const dimension of JUDGE_DIMENSIONS) {
      const { categories, ordinal, passesAt } = LABEL_SCALES[dimension];
      const spec = DIMENSIONS[dimension];
      const wanted = { words: 3, likert: 5, binary: 2, unit: 2 }[spec.scale];
      expect([dimension, categories.length]).toEqual([dimension, wanted]);
      expect(ordinal).toBe(spec.scale === 'words' || spec.scale === 'likert');
      if (spec.scale === 'unit') expect([dimension, passesAt]).toEqual([dimension, spec.passesAt]);
      else expect(passesAt).toBeNull();
    }
    expect(labelScale('toString')).toBeNull();
  });

  test.each<[string | number | boolean, LabelScale, string | null]>([
    ['Pass', LABEL_SCALES.answer_quality, 'pass'],
    [true, LABEL_SCALES.answer_quality, 'pass'],
    [0.75, LABEL_SCALES.answer_quality, 'pass'],
    [0.7499, LABEL_SCALES.answer_quality, 'fail'],
    [1.2, LABEL_SCALES.answer_quality, null],
    [1, LABEL_SCALES.tool_selection, 'pass'],
    [0.5, LABEL_SCALES.tool_selection, null],
    [0.5, LABEL_SCALES.task_completion, 'partial'],
    [' SUCCESS ', LABEL_SCALES.task_completion, 'success'],
    ['4.0', LABEL_SCALES.rag_recall, '4'],
    [3.5, LABEL_SCALES.rag_recall, null],
    [0, LABEL_SCALES.rag_recall, null],
    ['', LABEL_SCALES.rag_recall, null],
    ['__proto__', LABEL_SCALES.answer_quality, null],
    ['Good', declaredScale(['bad', ' good'], true), 'good'],
  ])('%s is %s', (written, scale, category) => {
    expect(categoryOf(written, scale)).toBe(category);
  });

  test('what a stored judge score stands for; an average goes to the nearest, a half up, as it passes', () => {
    const score = (value: number | null, passed: boolean | null = null) => ({ value, passed });
    expect(labelOfScore('rag_recall', score(0.625))).toBe('4');
    expect(labelOfScore('rag_recall', score((3.4 - 1) / 4))).toBe('3');
    expect(labelOfScore('rag_recall', score(0))).toBe('1');
    expect(labelOfScore('task_completion', score(0.5))).toBe('partial');
    expect(labelOfScore('answer_quality', score(0.9, true))).toBe('pass');
    expect(labelOfScore('answer_quality', score(0.7, false))).toBe('fail');
    expect(labelOfScore('rag_recall', score(null))).toBeNull();
    expect(labelOfScore('answer_quality', score(null))).toBeNull();
  });

  test('a scale in words', () => {
    expect(scaleText(LABEL_SCALES.plan_quality)).toBe('fail or pass, or a number from 0 to 1 (passes from 0.7)');
  });
});

test('text stays within its width, whatever the names', () => {
  const long = '天气查询用例'.repeat(10);
  const pairs = [...labels(3, 2), label(long, 'pass', 'fail', { reviewer: long }), label('z', 'pass', 'fail')];
  const text = renderCalibration(calibrate(pairs, labelScale), { width: 80, color: false, title: 'x' });
  expect(text.split('\n').filter((line) => displayWidth(line) > 80)).toEqual([]);
  expect(text).toContain('天气查询用例');
});
