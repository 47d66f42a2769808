import { describe, expect, test } from 'vitest';
import type { Score } from '../../../src/core/score.ts';
import { trialStatus } from '../../../src/core/trial.ts';
import { finaliseScores } from '../../../src/scorers/index.ts';
import { openDimensions } from '../../../src/scorers/judged.ts';
import type { ScoreDraft } from '../../../src/scorers/scorer.ts';
import { evalCase, JUDGE, SUITE } from './fixtures.ts';

const suite = { ...SUITE, judge: { ...JUDGE, dimensions: ['prompt_assembly' as const] } };
const oneCase = evalCase({ criteria: 'all eight segments' }, { dimension: 'prompt_assembly' });

const check = (passed: boolean | null, fields: Partial<Score> = {}): Score => ({
  scorer: 'prompt_assembly',
  dimension: 'prompt_assembly',
  value: passed === null ? null : Number(passed),
  passed,
  reason: 'the check says so',
  details: { segments: 8 },
  deciding: true,
  violation: false,
  ...fields,
});

const verdict = (passed: boolean | null): ScoreDraft => ({
  scorer: 'prompt_assembly',
  dimension: 'prompt_assembly',
  value: passed === null ? null : Number(passed),
  passed,
  reason: 'the judge says so',
  details: { judge_model: 'j' },
});

const finalise = (deterministic: Score[], judged: ScoreDraft[]): Score[] =>
  finaliseScores({ deterministic, judged, evalCase: oneCase, suite });

describe('a deterministic check under the name of a judge dimension', () => {
  test.each([
    ['failed', check(false), []],
    ['a violation', check(null, { violation: true }), []],
    ['settled by its own word', check(true, { details: { settled: true } }), []],
    ['passed', check(true), ['prompt_assembly']],
    ['not scored', check(null), ['prompt_assembly']],
  ])('%s: the judge is asked for %j', (_name, score, asked) => {
    expect(openDimensions(oneCase, suite, [score])).toEqual(asked);
  });

  test('without a check the judge is asked; a failure under another name leaves it open', () => {
    expect(openDimensions(oneCase, suite, [])).toEqual(['prompt_assembly']);
    expect(openDimensions(oneCase, suite, [check(false, { scorer: 'doc_recall' })])).toEqual(['prompt_assembly']);
  });

  test('a failure stands, even beside a verdict that passes', () => {
    expect(finalise([check(false)], [verdict(true)])).toEqual([check(false)]);
    expect(finalise([check(false)], [])).toEqual([check(false)]);
  });

  test.each([true, false, null])('a pass gives way to a verdict (passed %s) that keeps it in its details', (passed) => {
    const scores = finalise([check(true)], [verdict(passed)]);
    expect(scores).toHaveLength(1);
    expect(scores[0]).toMatchObject({
      passed,
      reason: 'the judge says so',
      deciding: true,
      details: { judge_model: 'j', deterministic: { value: 1, passed: true, reason: 'the check says so' } },
    });
    expect(trialStatus(scores)).toBe(passed === null ? 'unscored' : passed ? 'passed' : 'failed');
  });

  test('a pass without the verdict that was needed is unscored, never a pass', () => {
    const scores = finalise([check(true)], []);
    expect(scores).toMatchObject([{ value: null, passed: null, details: { deterministic: { passed: true } } }]);
    expect(trialStatus(scores)).toBe('unscored');
  });

  test('what the check settled stands without a verdict, and so does a check whose dimension is not judged', () => {
    const settled = check(true, { details: { settled: true } });
    expect(finalise([settled], [])).toEqual([settled]);
    const unjudged = finaliseScores({ deterministic: [check(true)], judged: [], evalCase: oneCase, suite: SUITE });
    expect(unjudged).toEqual([check(true)]);
  });
});

describe("the case's own dimension decides", () => {
  test.each([
    ['rag_recall', 'passed', true, 'passed'],
    ['rag_recall', 'failed', false, 'failed'],
    ['rag_recall', 'unscored', null, 'unscored'],
    ['other', 'informative', false, null],
  ])('case of dimension %s, verdict %s', (dimension, _name, passed, status) => {
    const judged = { ...verdict(passed), scorer: 'rag_recall', dimension: 'rag_recall' };
    const scores = finaliseScores({
      deterministic: [],
      judged: [judged],
      evalCase: evalCase({ doc_ids: ['d'] }, { dimension }),
      suite: { ...SUITE, judge: { ...JUDGE, dimensions: ['rag_recall'] } },
    });
    expect(trialStatus(scores)).toBe(status);
  });
});

describe('a case that declares sub-agents and is about something else', () => {
  const declares = evalCase({ answer_contains: ['x'] }, { context: { sub_agents: [{ name: 's' }] } });
  const isolation = (passed: boolean | null, details: ScoreDraft['details']): ScoreDraft => ({
    scorer: 'subagent_isolation',
    dimension: 'subagent_isolation',
    value: passed === null ? null : Number(passed),
    passed,
    reason: 'r',
    details,
  });
  const statusWith = (draft: ScoreDraft): ReturnType<typeof trialStatus> =>
    trialStatus(
      finaliseScores({
        deterministic: [check(true, { scorer: 'answer_contains', dimension: null })],
        judged: [draft],
        evalCase: declares,
        suite: { ...SUITE, judge: { ...JUDGE, dimensions: ['subagent_isolation'] } },
      }),
    );

  test('is not left without a verdict because none was dispatched', () => {
    expect(statusWith(isolation(null, { unscored_cause: 'not_recorded' }))).toBe('passed');
  });

  test('fails on a breach, and has no verdict without the judge that was needed', () => {
    expect(statusWith(isolation(false, null))).toBe('failed');
    expect(statusWith(isolation(null, { unscored_cause: 'judge_unparsable' }))).toBe('unscored');
  });
});
