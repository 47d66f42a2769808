import { describe, expect, test } from 'vitest';
import { createMockWorld, type MockWorld } from '../../../src/agents/mock/mock-world.ts';
import { sleep } from '../../../src/agents/sleep.ts';
import type { CaseMock, MockFixture, MockReply } from '../../../src/core/case.ts';
import { UserError } from '../../../src/core/errors.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { caseOf, fakeTime } from './trial-fixture.ts';

const NEVER = new AbortController().signal;

function world(mock: CaseMock, fixtures: Record<string, MockFixture[]> = {}): MockWorld {
  return createMockWorld(caseOf({ mock }), { fixtures }, { sleep: fakeTime().sleep });
}

const says = (result: MockReply['result'], part: Partial<MockFixture> = {}): MockFixture => ({
  tool: 't',
  replies: [{ result: result ?? null }],
  ...part,
});
const ask = async (of: MockWorld, args: JsonObject = {}): Promise<unknown> => (await of.call('t', args, NEVER)).result;

describe('matching', () => {
  test('the most specific fixture answers: exact, then more arguments, then any', async () => {
    const of = world({
      tools: [
        says('any'),
        says('one', { args: { a: 1 } }),
        says('two', { args: { a: 1, b: 2 } }),
        says('exact', { args: { a: 1, b: 2, c: 3 }, match: 'exact' }),
      ],
    });
    expect(await ask(of, { a: 9 })).toBe('any');
    expect(await ask(of, { a: 1, z: 0 })).toBe('one');
    expect(await ask(of, { a: 1, b: 2, z: 0 })).toBe('two');
    expect(await ask(of, { c: 3, b: 2, a: 1 })).toBe('exact');
  });

  test('exact refuses one argument more; subset compares whole values; any ignores args', async () => {
    const exact = world({ tools: [says('x', { args: { a: 1 }, match: 'exact' })] });
    expect((await exact.call('t', { a: 1, b: 2 }, NEVER)).unmatched).toBe(true);
    const subset = world({ tools: [says('x', { args: { a: { b: 1 } } })] });
    expect((await subset.call('t', { a: { b: 1, c: 2 } }, NEVER)).unmatched).toBe(true);
    const any = world({ tools: [says('x', { args: { a: 1 }, match: 'any' })] });
    expect(await ask(any, { a: 2 })).toBe('x');
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['a number is not its text', { a: 1 }, { a: '1' }],
    ['true is not 1', { a: true }, { a: 1 }],
    ['a list is not an object', { a: [1] }, { a: { 0: 1 } }],
    ['null is not absence', { a: null }, {}],
    ['a prototype key is no argument', { constructor: 1 }, {}],
  ])('T15: %s', async (_name, wanted, made) => {
    const of = world({ tools: [says('x', { args: wanted })] });
    expect((await of.call('t', made, NEVER)).unmatched).toBe(true);
  });

  test('own fixtures come before named ones, these before the default group, however specific', async () => {
    const fixtures = {
      default: [says('default', { args: { a: 1 }, match: 'exact' })],
      named: [says('named', { args: { a: 1 } })],
    };
    expect(await ask(world({ tools: [says('own')], fixtures: ['named'] }, fixtures), { a: 1 })).toBe('own');
    expect(await ask(world({ fixtures: ['named'] }, fixtures), { a: 1 })).toBe('named');
    expect(await ask(world({}, fixtures), { a: 1 })).toBe('default');
    // A case without any mock has the default group too.
    const bare = createMockWorld(caseOf(), { fixtures }, { sleep });
    expect(await ask(bare, { a: 1 })).toBe('default');
  });

  test('a group the suite does not have is named where it is missed', async () => {
    const outcome = await world({ fixtures: ['typo', '__proto__'] }).call('t', { a: 1 }, NEVER);
    expect(outcome).toMatchObject({ unmatched: true, error: { kind: 'no_fixture' } });
    expect(outcome.error?.message).toContain('t({"a":1})');
    expect(outcome.error?.message).toContain('typo');
  });

  test('unmatched: empty answers null and still counts as unmatched', async () => {
    expect(await world({ unmatched: 'empty' }).call('t', {}, NEVER)).toEqual({
      result: null,
      error: null,
      unmatched: true,
    });
  });
});

describe('replies', () => {
  test('a sequence goes on by each call and repeats its last', async () => {
    const replies: MockReply[] = [{ fail: { kind: 'http_500' } }, { result: 'second' }, { result: 'last' }];
    const of = world({ tools: [{ tool: 't', replies }] });
    const results = [];
    for (let n = 0; n < 4; n += 1) results.push(await of.call('t', {}, NEVER));
    expect(results.map(({ result, error }) => error?.kind ?? result)).toEqual(['http_500', 'second', 'last', 'last']);
  });

  test('every trial begins its sequences anew', async () => {
    const mock: CaseMock = { tools: [{ tool: 't', replies: [{ result: 1 }, { result: 2 }] }] };
    expect([await ask(world(mock)), await ask(world(mock))]).toEqual([1, 1]);
  });

  test.each<[string, MockReply['fail'], unknown]>([
    ['timeout', { kind: 'timeout' }, { result: null, error: { kind: 'timeout', message: 't did not answer in time' } }],
    ['http_500', { kind: 'http_500', message: 'boom' }, { result: null, error: { kind: 'http_500', message: 'boom' } }],
    ['not_found', { kind: 'not_found' }, { result: null, error: { kind: 'not_found', message: 'NOT_FOUND' } }],
    [
      'rate_limit',
      { kind: 'rate_limit' },
      { result: null, error: { kind: 'rate_limit', message: 't failed: HTTP 429 Too Many Requests' } },
    ],
    [
      'malformed',
      { kind: 'malformed', text: '{"a":' },
      { result: '{"a":', error: { kind: 'malformed', message: 't answered with broken JSON' } },
    ],
  ])('failure %s', async (_name, fail, expected) => {
    const of = world({ tools: [{ tool: 't', replies: fail === undefined ? [] : [{ fail }] }] });
    expect(await of.call('t', {}, NEVER)).toMatchObject(expected as object);
  });

  test('delay and timeout take their time; nothing else does', async () => {
    const time = fakeTime();
    const replies: MockReply[] = [{ delay_ms: 30 }, { fail: { kind: 'timeout', after_ms: 500 } }, { result: 1 }];
    const of = createMockWorld(caseOf({ mock: { tools: [{ tool: 't', replies }] } }), { fixtures: {} }, time);
    const took = [];
    for (let n = 0; n < 3; n += 1) {
      const from = time.now();
      await of.call('t', {}, NEVER);
      took.push(time.now() - from);
    }
    expect(took).toEqual([30, 500, 0]);
  });

  test('a delay ends at once when the trial is given up', async () => {
    const controller = new AbortController();
    const mock: CaseMock = { tools: [{ tool: 't', replies: [{ delay_ms: 60_000 }] }] };
    const of = createMockWorld(caseOf({ mock }), { fixtures: {} }, { sleep });
    const waiting = of.call('t', {}, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('state', () => {
  const mock: CaseMock = {
    state: { order: { status: 'paid', items: [{ price: 1 }] } },
    tools: [
      {
        tool: 'refund',
        replies: [
          {
            result: { was: { $state: 'order.status' }, for: { $arg: 'reason' }, none: { $state: 'nowhere' } },
            set_state: { 'order.status': 'refunded', 'order.items[0].price': 0, 'log.last': { $arg: 'reason' } },
          },
        ],
      },
      { tool: 'get', replies: [{ result: { $state: 'order' } }] },
    ],
  };

  test('tools read and change it; the case itself is not changed', async () => {
    const before = structuredClone(mock);
    const of = world(mock);
    const refunded = await of.call('refund', { reason: 'late' }, NEVER);
    expect(refunded.result).toEqual({ was: 'paid', for: 'late', none: null });
    const got = await of.call('get', {}, NEVER);
    expect(got.result).toEqual({ status: 'refunded', items: [{ price: 0 }] });
    expect(of.state()).toEqual({ order: { status: 'refunded', items: [{ price: 0 }] }, log: { last: 'late' } });
    expect(mock).toEqual(before);
  });

  test('parallel calls change it in call order, whatever their delays', async () => {
    const set = (value: string, delay: number): MockFixture => ({
      tool: value,
      replies: [{ delay_ms: delay, set_state: { last: value } }],
    });
    const of = world({ tools: [set('slow', 900), set('quick', 1)] });
    await Promise.all([of.call('slow', {}, NEVER), of.call('quick', {}, NEVER)]);
    expect(of.state()).toEqual({ last: 'quick' });
  });

  test('there is none without state', async () => {
    const of = world({ tools: [says('x')] });
    await ask(of);
    expect(of.state()).toBeNull();
  });

  test('a failure may change it: the effect happened, the answer was lost', async () => {
    const of = world({ tools: [{ tool: 't', replies: [{ fail: { kind: 'timeout' }, set_state: { sent: true } }] }] });
    await of.call('t', {}, NEVER);
    expect(of.state()).toEqual({ sent: true });
  });

  test('a path that is none is the user’s error, before anything runs', () => {
    const bad: CaseMock = { tools: [{ tool: 't', replies: [{ set_state: { 'a..b': 1 } }] }] };
    expect(() => world(bad)).toThrow(UserError);
    expect(() => world(bad)).toThrow('"a..b"');
  });
});
