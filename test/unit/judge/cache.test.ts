import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JudgeConfig } from '../../../src/core/suite.ts';
import { type CachedVerdict, type VerdictCache, verdictKey } from '../../../src/judge/cache.ts';
import { judgeTrial, type JudgeTrialResult } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { CASE, CONFIG, type RecordedCall, reply, scriptedJudge, trajectoryWith } from './judge-fixture.ts';

const SUCCESS = '{"result": "success", "reason": "it does"}';
const ENDPOINT = 'http://one/v1';

/** A cache held in memory: what a trial marks to be kept, as the end of a trial stores it. */
function memory(): { entries: Map<string, CachedVerdict>; lookups: number; keep(result: JudgeTrialResult): void } {
  const entries = new Map<string, CachedVerdict>();
  return {
    entries,
    lookups: 0,
    keep({ verdicts }) {
      for (const { cache_key, model, params, raw_reply } of verdicts) {
        const entry = { raw_reply: raw_reply ?? '', model, params, evaluation_id: 'first' };
        if (cache_key !== null) entries.set(cache_key, entry);
      }
    },
  };
}

interface Asking {
  store: ReturnType<typeof memory>;
  config?: Partial<JudgeConfig>;
  answer?: string;
  replies?: string[];
  judge?: ReturnType<typeof scriptedJudge>;
  options?: Partial<VerdictCache>;
}

async function ask({
  store,
  config,
  answer,
  replies,
  judge = scriptedJudge({ task_completion: (replies ?? [SUCCESS]).map((text) => reply(text)) }),
  options,
}: Asking): Promise<JudgeTrialResult & { calls: RecordedCall[] }> {
  const result = await judgeTrial({
    evalCase: CASE,
    trajectory: trajectoryWith(answer ?? 'Order 88 is refunded.'),
    config: { ...CONFIG, ...config },
    dimensions: ['task_completion'],
    prompts: await loadPrompts(null, config?.language ?? 'en'),
    model: judge.model,
    signal: new AbortController().signal,
    cache: {
      lookup: async (keys) => {
        store.lookups += 1;
        return new Map(keys.flatMap((key) => (store.entries.has(key) ? [[key, store.entries.get(key)!]] : [])));
      },
      endpointOf: () => ENDPOINT,
      trialIndex: 1,
      journaled: () => false,
      ...options,
    },
  });
  store.keep(result);
  return { ...result, calls: judge.calls };
}

describe('verdict cache', () => {
  it('the same question again: no call, no tokens, the same score, and where it was paid for', async () => {
    const store = memory();
    const first = await ask({ store });
    const again = await ask({ store });
    expect(first.calls).toHaveLength(1);
    expect(again.calls).toHaveLength(0);
    expect(again.drafts[0]).toMatchObject({
      value: 1,
      passed: true,
      reason: 'it does',
      details: { cached_from: 'first' },
    });
    expect(again.verdicts[0]).toMatchObject({ calls: 0, usage: { total: 0 }, cached_from: 'first', cache_key: null });
    expect(again.verdicts[0]?.model).toBe('judge-1-2026');
    expect(first.verdicts[0]?.cached_from).toBeNull();
    expect(store.entries.size).toBe(1);
  });

  it.each<[string, Partial<Asking>]>([
    ['another answer', { answer: 'Order 89 is refunded.' }],
    ['another model', { config: { model: 'judge-2' } }],
    ['another temperature', { config: { temperature: 0.5 } }],
    ['another seed', { config: { seed: 3 } }],
    ['another format', { config: { response_format: 'text' } }],
    ['another prompt', { config: { language: 'zh' } }],
    ['the same model elsewhere', { options: { endpointOf: () => 'http://two/v1' } }],
    ['another repetition of the case', { options: { trialIndex: 2 } }],
    ['a call that is in the journal', { options: { journaled: () => true } }],
  ])('%s: the judge is asked', async (_, change) => {
    const store = memory();
    await ask({ store });
    expect((await ask({ store, ...change })).calls).toHaveLength(1);
  });

  it('only valid verdicts are kept; a repaired one is', async () => {
    const store = memory();
    await ask({ store, replies: ['nonsense', 'nonsense'] });
    expect(store.entries.size).toBe(0);
    await ask({ store, replies: ['nonsense', SUCCESS] });
    expect([...store.entries.values()].map(({ raw_reply }) => raw_reply)).toEqual([SUCCESS]);
  });

  it('a verdict given without a parameter the endpoint refused still says so when it is used again', async () => {
    const store = memory();
    const judge = scriptedJudge({ task_completion: [reply(SUCCESS, { left_out: ['temperature'] })] });
    const first = await ask({ store, judge });
    const again = await ask({ store });
    expect(again.verdicts[0]).toMatchObject({ cached_from: 'first', params: { left_out: ['temperature'] } });
    expect(again.verdicts[0]?.params).toEqual(first.verdicts[0]?.params);
  });

  it('a kept reply that is no verdict by the rules of now is asked again', async () => {
    const store = memory();
    await ask({ store });
    for (const entry of store.entries.values()) entry.raw_reply = '{"result": "splendid"}';
    const again = await ask({ store });
    expect(again.calls).toHaveLength(1);
    expect(again.drafts[0]).toMatchObject({ value: 1, passed: true });
  });

  it('off: nothing is looked up, nothing is marked to be kept', async () => {
    const judge = scriptedJudge({ task_completion: [reply(SUCCESS)] });
    const { verdicts } = await judgeTrial({
      evalCase: CASE,
      trajectory: trajectoryWith('Order 88 is refunded.'),
      config: CONFIG,
      dimensions: ['task_completion'],
      prompts: await loadPrompts(null, 'en'),
      model: judge.model,
      signal: new AbortController().signal,
    });
    expect(verdicts[0]).toMatchObject({ cache_key: null, cached_from: null });
  });

  it('votes and times are places of their own; one lookup for all of them', async () => {
    const store = memory();
    const first = await ask({ store });
    expect(first.calls).toHaveLength(1);
    store.lookups = 0;
    const again = await ask({ store, config: { times: 3 } });
    expect(again.calls.map(({ place }) => place.vote).sort((a, b) => a - b)).toEqual([1, 2]);
    expect(store.lookups).toBe(1);
  });
});

it('verdictKey: each part changes it, and it does not depend on the order of keys', () => {
  const identity = {
    dimension: 'd',
    prompt_hash: 'p',
    endpoint: 'e',
    model: 'm',
    params: { temperature: 0, seed: 1 },
    messages: [{ role: 'user' as const, content: 'x' }],
    vote: 0,
    round: 0,
    trial_index: 1,
  };
  const keys = new Set([
    verdictKey(identity),
    ...(['dimension', 'prompt_hash', 'endpoint', 'model'] as const).map((part) =>
      verdictKey({ ...identity, [part]: 'other' }),
    ),
    ...(['vote', 'round', 'trial_index'] as const).map((part) => verdictKey({ ...identity, [part]: 9 })),
    verdictKey({ ...identity, params: { temperature: 1, seed: 1 } }),
    verdictKey({ ...identity, messages: [{ role: 'system', content: 'x' }] }),
  ]);
  expect(keys.size).toBe(10);
  expect(verdictKey({ ...identity, params: { seed: 1, temperature: 0 } })).toBe(verdictKey(identity));
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const key = (content: string): string => verdictKey({ ...identity, messages: [{ role: 'user', content }] });
      expect(key(a) === key(b)).toBe(a === b);
    }),
  );
});
