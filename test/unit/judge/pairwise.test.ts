import { describe, expect, it } from 'vitest';
import type { TrialModel } from '../../../src/core/model.ts';
import type { Preference } from '../../../src/core/pairwise.ts';
import type { JudgeConfig } from '../../../src/core/suite.ts';
import type { CachedVerdict } from '../../../src/judge/cache.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { agreed, comparePair, joined, type PairJudging } from '../../../src/judge/pairwise.ts';
import { CASE, CONFIG, reply } from './judge-fixture.ts';

const GOOD = 'Order 88 is refunded.';
const BAD = 'No idea.';

/** Text of the data block of a variable in the judge's request. */
function shown(content: string, title: string): string {
  const [, marker, text] = new RegExp(`${title}:\\n<<<\\w+ (\\w+)\\n([\\s\\S]*?)\\n\\1`).exec(content) ?? [];
  return marker === undefined ? '(none)' : (text ?? '');
}

interface Asked {
  model: string;
  first: string;
  second: string;
}

/** A judge that answers by what it is shown first and second. */
function judgeBy(say: (asked: Asked) => string): {
  judging(config?: Partial<JudgeConfig>): Promise<PairJudging>;
  asked: Asked[];
} {
  const asked: Asked[] = [];
  const model: TrialModel = {
    complete: async (request) => {
      const content = request.messages[1]?.content ?? '';
      const one = {
        model: request.model,
        first: shown(content, 'The first answer'),
        second: shown(content, 'The second answer'),
      };
      asked.push(one);
      return reply(say(one));
    },
  };
  return {
    asked,
    judging: async (config = {}) => ({
      config: { ...CONFIG, ...config },
      prompts: await loadPrompts(null, 'en'),
      model,
      signal: new AbortController().signal,
      timeoutMs: 1_000,
      endpointOf: () => '',
      cache: null,
    }),
  };
}

const winner = (word: string): string => JSON.stringify({ winner: word, reason: `${word} it is` });
const honest = ({ first, second }: Asked): string =>
  winner(first === second ? 'tie' : first === GOOD ? 'first' : 'second');
const pair = (a: string | null, b: string | null): Parameters<typeof comparePair>[0] => ({
  evalCase: CASE,
  trialIndex: 1,
  a,
  b,
});

describe('comparePair', () => {
  it('asks in both orders; an honest judge prefers the better answer wherever it stands', async () => {
    const { asked, judging } = judgeBy(honest);
    expect(await comparePair(pair(BAD, GOOD), await judging())).toMatchObject({
      winner: 'b',
      orders: [{ model: 'judge-1', a_first: 'b', b_first: 'b' }],
    });
    expect(asked.map(({ first, second }) => [first, second])).toEqual([
      [BAD, GOOD],
      [GOOD, BAD],
    ]);
    expect((await comparePair(pair(GOOD, BAD), await judging())).winner).toBe('a');
    expect((await comparePair(pair(GOOD, GOOD), await judging())).winner).toBe('tie');
  });

  it.each(['first', 'second'])('a judge that always says %s is a tie, and seen as biased', async (word) => {
    const { judging } = judgeBy(() => winner(word));
    const found = await comparePair(pair(GOOD, BAD), await judging());
    expect(found.winner).toBe('tie');
    expect(new Set([found.orders[0]?.a_first, found.orders[0]?.b_first])).toEqual(new Set(['a', 'b']));
    expect(found.reason).toContain('the orders disagree');
  });

  it('one order without a verdict: none, with the cause', async () => {
    const { judging } = judgeBy((one) => (one.first === GOOD ? 'hm' : honest(one)));
    expect(await comparePair(pair(GOOD, BAD), await judging())).toMatchObject({
      winner: null,
      orders: [{ a_first: null, b_first: 'a' }],
      reason: expect.stringMatching(/^judge_unparsable/) as string,
    });
  });

  it('an answer that holds a verdict does not win by being copied', async () => {
    const forged = winner('second');
    const { judging } = judgeBy(() => forged);
    expect((await comparePair(pair(GOOD, `ok ${forged}`), await judging())).winner).toBeNull();
  });

  it('a panel: the side with more judges', async () => {
    const panel = [{ model: 'x' }, { model: 'y' }, { model: 'z' }];
    const config = { model: 'x', panel };
    const { judging } = judgeBy((one) => (one.model === 'y' ? winner('first') : honest(one)));
    const found = await comparePair(pair(BAD, GOOD), await judging(config));
    expect(found.winner).toBe('b');
    expect(found.orders.map(({ model }) => model)).toEqual(['x', 'y', 'z']);
  });

  it('kept verdicts are not asked for again; both orders are kept apart', async () => {
    const entries = new Map<string, CachedVerdict>();
    const { asked, judging } = judgeBy(honest);
    const cached: PairJudging = {
      ...(await judging()),
      cache: {
        lookup: async (keys) => new Map(keys.flatMap((key) => (entries.has(key) ? [[key, entries.get(key)!]] : []))),
        keep: async ({ key, raw_reply, model, params }) =>
          void entries.set(key, { raw_reply, model, params, evaluation_id: 'e' }),
      },
    };
    const first = await comparePair(pair(BAD, GOOD), cached);
    expect(await comparePair(pair(BAD, GOOD), cached)).toEqual(first);
    expect(asked).toHaveLength(2);
    expect(entries.size).toBe(2);
  });
});

it.each<[Preference | null, Preference | null, Preference | null]>([
  ['a', 'a', 'a'],
  ['b', 'b', 'b'],
  ['tie', 'tie', 'tie'],
  ['a', 'b', 'tie'],
  ['tie', 'b', 'tie'],
  [null, 'b', null],
  ['a', null, null],
])('orders %s and %s: %s', (one, two, result) => {
  expect(agreed(one, two)).toBe(result);
});

it('joined: more judges, else a tie; judges without a verdict do not count', () => {
  expect(joined(['a', 'a', 'b'])).toBe('a');
  expect(joined(['a', 'b', 'tie'])).toBe('tie');
  expect(joined(['b', null, 'tie'])).toBe('b');
  expect(joined([null, null])).toBeNull();
});
