import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelReply, TrialModel } from '../../../src/core/model.ts';
import type { JudgeConfig, JudgeDimension } from '../../../src/core/suite.ts';
import { judgeTrial } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { type JoinedVotes, joinVotes, roundValues, votePlaces } from '../../../src/judge/votes.ts';
import { CASE, CONFIG, reply, trajectoryWith } from './judge-fixture.ts';

type Rule = Parameters<typeof joinVotes>[1];
const LIKERT: Rule = { aggregate: 'majority', scale: 'likert', passesAt: 0.625 };
const WORDS: Rule = { aggregate: 'majority', scale: 'words', passesAt: 1 };
const BINARY: Rule = { aggregate: 'majority', scale: 'binary', passesAt: 1 };
const UNIT: Rule = { aggregate: 'majority', scale: 'unit', passesAt: 0.7 };
const median = (rule: Rule): Rule => ({ ...rule, aggregate: 'median' });

/** Values as a rule's own threshold passes them; null = unscored. */
function join(values: (number | null)[], rule: Rule): JoinedVotes {
  const votes = values.map((value) => ({
    value,
    passed: value === null ? null : value >= rule.passesAt,
    cause: value === null ? ('judge_empty' as const) : null,
  }));
  return joinVotes(votes, rule);
}

describe('joinVotes', () => {
  // Likert 1..5 = 0, .25, .5, .75, 1.
  it.each<[string, (number | null)[], Rule, number | null, boolean | null, string | null]>([
    ['2 of 3 pass: the median', [0.75, 1, 0.25], LIKERT, 0.75, true, null],
    ['1 of 3 passes', [0.75, 0.5, 0.25], LIKERT, 0.5, false, null],
    ['3 and 4 of 5, majority: a tie', [0.5, 0.75], LIKERT, null, null, 'judge_tied'],
    ['3 and 4 of 5, median: 3.5 passes', [0.5, 0.75], median(LIKERT), 0.625, true, null],
    ['2 and 4 of 5, median: 3 fails', [0.25, 0.75], median(LIKERT), 0.5, false, null],
    ['4 votes, 3 pass: mean of the middle two', [0.25, 0.75, 1, 1], LIKERT, 0.875, true, null],
    ['words: success, success, failure', [1, 1, 0], WORDS, 1, true, null],
    ['words: success, partial, failure: what fails is partial', [1, 0.5, 0], WORDS, 0.5, false, null],
    ['words: partial and failure: nobody said anything between', [0.5, 0], WORDS, 0, false, null],
    ['words: a tie is no verdict', [1, 0], WORDS, null, null, 'judge_tied'],
    ['words: median does not break a tie', [1, 0.5], median(WORDS), null, null, 'judge_tied'],
    ['binary: median does not break a tie', [1, 0, 1, 0], median(BINARY), null, null, 'judge_tied'],
    ['numbers: median of an even number', [0.6, 0.9], median(UNIT), 0.75, true, null],
    ['2 of 3 votes valid and of one mind', [1, null, 1], BINARY, 1, true, null],
    ['2 of 3 valid, tied', [1, null, 0], BINARY, null, null, 'judge_tied'],
    ['1 of 3 valid is no majority of the votes', [1, null, null], BINARY, null, null, 'judge_empty'],
    ['1 of 2 valid is no majority of the votes', [1, null], median(LIKERT), null, null, 'judge_empty'],
    ['none valid', [null, null, null], LIKERT, null, null, 'judge_empty'],
  ])('%s', (_, values, rule, value, passed, cause) => {
    expect(join(values, rule)).toMatchObject({ value, passed, cause });
  });

  it('says how far the votes disagree', () => {
    expect(join([1, 1, 1], BINARY)).toMatchObject({ valid: 3, disagreement: 0 });
    expect(join([1, 1, 0, null], BINARY)).toMatchObject({ valid: 3, disagreement: 1 / 3 });
    expect(join([1, 0], BINARY)).toMatchObject({ valid: 2, disagreement: 0.5 });
    expect(join([null], BINARY)).toMatchObject({ valid: 0, disagreement: null });
  });

  const scales: Rule[] = [LIKERT, WORDS, BINARY, UNIT, ...[LIKERT, WORDS, BINARY, UNIT].map(median)];
  const steps: Record<Rule['scale'], number[]> = {
    likert: [0, 0.25, 0.5, 0.75, 1],
    words: [0, 0.5, 1],
    binary: [0, 1],
    unit: [0, 0.3, 0.69, 0.7, 0.71, 1],
  };
  const ballots = fc
    .constantFrom(...scales)
    .chain((rule) =>
      fc.tuple(
        fc.constant(rule),
        fc.array(fc.option(fc.constantFrom(...steps[rule.scale])), { minLength: 1, maxLength: 9 }),
      ),
    );

  it('laws: value and pass agree, no value that nobody could give, order does not matter, a pass needs half the votes', () => {
    fc.assert(
      fc.property(ballots, ([rule, values]) => {
        const joined = join(values, rule);
        expect(join([...values].reverse(), rule)).toEqual(joined);
        expect(joined.value === null).toBe(joined.passed === null);
        expect(joined.value === null).toBe(joined.cause !== null);
        if (joined.value === null) return;
        expect(joined.value >= rule.passesAt - 1e-9).toBe(joined.passed);
        expect(joined.valid * 2).toBeGreaterThan(values.length);
        if (rule.scale === 'words' || rule.scale === 'binary') expect(values).toContain(joined.value);
        const same = values.filter((value) => value !== null && value >= rule.passesAt === joined.passed).length;
        expect(same * 2).toBeGreaterThanOrEqual(joined.valid);
      }),
      { numRuns: 3_000 },
    );
  });

  it('all alike: as one vote', () => {
    fc.assert(
      fc.property(fc.constantFrom(...scales), fc.nat({ max: 5 }), fc.integer({ min: 1, max: 9 }), (rule, at, count) => {
        const value = steps[rule.scale][at % steps[rule.scale].length] ?? 0;
        const one = join([value], rule);
        expect(
          join(
            Array.from({ length: count }, () => value),
            rule,
          ),
        ).toMatchObject({ value, passed: one.passed });
      }),
    );
  });
});

describe('votePlaces', () => {
  const panel = [{ model: 'a' }, { model: 'b' }];
  const placed = (config: Partial<JudgeConfig>): unknown =>
    votePlaces({ ...CONFIG, ...config }).map(({ vote, round, config: one }) => [vote, round, one.model, one.seed]);

  it('one vote without settings, the configuration as it is', () => {
    expect(placed({ seed: 7 })).toEqual([[0, 0, 'judge-1', 7]]);
  });

  it('round by round, judge by judge; the seed moves with each repetition of a model', () => {
    expect(placed({ panel, votes: 2, times: 2, seed: 10 })).toEqual([
      [0, 0, 'a', 10],
      [1, 0, 'a', 11],
      [2, 0, 'b', 10],
      [3, 0, 'b', 11],
      [4, 1, 'a', 12],
      [5, 1, 'a', 13],
      [6, 1, 'b', 12],
      [7, 1, 'b', 13],
    ]);
  });
});

it('roundValues: each judging joined by itself, null where it has no verdict', () => {
  const vote = (round: number, value: number | null): Parameters<typeof roundValues>[0][number] => ({
    vote: 0,
    round,
    model: 'm',
    value,
    passed: value === null ? null : value >= 0.625,
    reason: '',
    cause: value === null ? 'judge_empty' : null,
  });
  const votes = [vote(0, 1), vote(0, 0.75), vote(0, 0), vote(1, null), vote(2, 0.25)];
  expect(roundValues(votes, LIKERT)).toEqual([0.75, null, 0.25]);
});

describe('judgeTrial with votes', () => {
  const word = (result: string): ModelReply => reply(JSON.stringify({ result, reason: `said ${result}` }));

  async function judged(
    replies: ModelReply[],
    config: Partial<JudgeConfig>,
    dimension: JudgeDimension = 'task_completion',
  ) {
    const asked: { model: string; vote: number; seed: number | undefined }[] = [];
    const model: TrialModel = {
      complete: async (request, { place }) => {
        asked.push({ model: request.model, vote: place.vote, seed: request.seed });
        const next = replies[place.vote];
        if (next === undefined) throw new Error(`no reply for vote ${place.vote}`);
        return { ...next, model: request.model };
      },
    };
    const { drafts, verdicts } = await judgeTrial({
      evalCase: CASE,
      trajectory: trajectoryWith('Order 88 is refunded.'),
      config: { ...CONFIG, ...config },
      dimensions: [dimension],
      prompts: await loadPrompts(null, 'en'),
      model,
      signal: new AbortController().signal,
    });
    return { draft: drafts[0], verdicts, asked };
  }
  const panel = [{ model: 'a' }, { model: 'b' }, { model: 'c' }];

  it('a panel: each judge once, every vote kept with its model, the dissent in the reason', async () => {
    const { draft, verdicts, asked } = await judged([word('success'), word('failure'), word('success')], { panel });
    expect(asked.map(({ model }) => model).sort()).toEqual(['a', 'b', 'c']);
    expect(draft).toMatchObject({ value: 1, passed: true });
    expect(draft?.reason).toBe('2 of 3 votes pass: said success; against it: b: said failure');
    expect(draft?.details).toMatchObject({
      judge_model: 'a + b + c',
      valid_votes: 3,
      disagreement: 1 / 3,
      votes: [
        { vote: 0, model: 'a', value: 1, passed: true },
        { vote: 1, model: 'b', value: 0, passed: false },
        { vote: 2, model: 'c', value: 1, passed: true },
      ],
    });
    expect(verdicts.map(({ vote, model, value, passed }) => [vote, model, value, passed])).toEqual([
      [0, 'a', 1, true],
      [1, 'b', 0, false],
      [2, 'c', 1, true],
    ]);
  });

  it('votes without a verdict: counted, named, and no verdict without a majority of all votes', async () => {
    const refused = reply('no JSON here');
    const two = await judged([word('success'), refused, word('success')], { votes: 3 });
    expect(two.draft).toMatchObject({ value: 1, passed: true });
    expect(two.draft?.reason).toContain('2 of 2 votes pass; 1 without a verdict (judge_unparsable)');
    const one = await judged([word('success'), refused, refused], { votes: 3 });
    expect(one.draft).toMatchObject({ value: null, passed: null, details: { unscored_cause: 'judge_unparsable' } });
    expect(one.draft?.reason).toMatch(/^judge_unparsable: only 1 of 3 votes/);
  });

  it('a tie is unscored, and says so', async () => {
    const { draft } = await judged([word('success'), word('failure')], { votes: 2 });
    expect(draft).toMatchObject({ value: null, passed: null, details: { unscored_cause: 'judge_tied' } });
    expect(draft?.reason).toBe('judge_tied: 1 of 2 votes pass');
  });

  it('judged several times: the value of each time in the details', async () => {
    const replies = [word('success'), word('failure'), word('success')];
    const { draft, verdicts } = await judged(replies, { times: 3 });
    expect(draft?.details?.['rounds']).toEqual([1, 0, 1]);
    expect(verdicts.map(({ round }) => round)).toEqual([0, 1, 2]);
    expect((await judged(replies, { votes: 3 })).draft?.details).not.toHaveProperty('rounds');
  });

  it('a vote whose call fails fails the trial only after the others are in the journal', async () => {
    await expect(judged([word('success')], { votes: 2 })).rejects.toThrow('no reply for vote 1');
  });
});
