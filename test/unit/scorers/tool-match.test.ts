import { describe, expect, test } from 'vitest';
import { readToolCall } from '../../../src/agents/openai/read-tool-call.ts';
import type { ArgsMode, Expected, MatchMode } from '../../../src/core/case.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/lossless-json.ts';
import { trajectoryFromMessages } from '../../../src/scorers/trajectories/from-messages.ts';
import type { MadeCall } from './fixtures.ts';
import { scoresOf, wanted } from './fixtures.ts';

const value = (expected: Expected, made: MadeCall[], scorer: string): number | null | undefined =>
  scoresOf(expected, made)[scorer]?.value;

function match(
  calls: Expected['calls'],
  made: MadeCall[],
  mode: MatchMode,
  args?: ArgsMode,
): boolean | null | undefined {
  return scoresOf({ calls: calls ?? [], match: mode, ...(args === undefined ? {} : { args }) }, made)['tool_match']
    ?.passed;
}

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

function json(text: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value as JsonObject;
}

describe('weighted tool score', () => {
  test('worked examples of docs/scoring.md', () => {
    const calls = wanted('a', 'b', 'c', 'd', 'e');
    const scores = scoresOf({ calls }, ['a']);
    expect(scores['tool_names']?.value).toBeCloseTo(0.2, 12);
    expect(scores['tool_args']?.value).toBe(1);
    expect(scores['tool_order']?.value).toBe(1);
    expect(scores['tool_score']?.value).toBeCloseTo(0.68, 12);
    expect(value({ calls }, ['z'], 'tool_score')).toBe(0);
  });

  test('the worked example of docs/scoring.md, by hand', () => {
    const calls = wanted(['read', { path: 'a' }], ['write', { path: 'a', text: 'hi' }], ['read', { path: 'b' }]);
    const scores = scoresOf({ calls }, [
      { tool: 'read', args: { path: 'a' } },
      { tool: 'read', args: { path: 'b' } },
      { tool: 'write', args: { path: 'a', text: 'bye' } },
      'list',
    ]);
    expect(scores['tool_names']?.value).toBeCloseTo(2 / 3, 12);
    expect(scores['tool_args']?.value).toBe(0.75);
    expect(scores['tool_order']?.value).toBeCloseTo(2 / 3, 12);
    expect(scores['tool_score']?.value).toBeCloseTo(0.4 * (2 / 3) + 0.3 * 0.75 + 0.3 * (2 / 3), 12);
    expect(scores['tool_precision']?.value).toBe(0.75);
    expect(scores['tool_recall']?.value).toBe(1);
    expect(scores['tool_f1']?.value).toBeCloseTo(6 / 7, 12);
  });

  test('T1: the same call expected twice: made twice 1, made once 0.5', () => {
    const call: [string, JsonObject] = ['quote', { sym: 'AB' }];
    const made = { tool: 'quote', args: { sym: 'AB' } };
    expect(value({ calls: wanted(call, call) }, [made, made], 'tool_args')).toBe(1);
    expect(value({ calls: wanted(call, call) }, [made], 'tool_args')).toBe(0.5);
  });

  test('T2: credit by share of equal arguments, whatever the listing order', () => {
    const calls = wanted(
      ['reserve', { room: 7, nights: 2, pet: false }],
      ['reserve', { room: 7, nights: 2, pet: true }],
    );
    const made = [
      { tool: 'reserve', args: { room: 7, nights: 2, pet: true } },
      { tool: 'reserve', args: { room: 7, nights: 9, pet: null } },
    ];
    for (const listed of permutations(calls)) {
      for (const order of permutations(made))
        expect(value({ calls: listed }, order, 'tool_args')).toBeCloseTo(4 / 6, 12);
    }
  });

  test('T3: order is the share of pairs in order, and the reason names the pair and the step', () => {
    const order = scoresOf({ calls: wanted('read', 'write', 'read') }, ['read', 'read', 'write'])['tool_order'];
    expect(order?.value).toBeCloseTo(2 / 3, 12);
    expect(order?.reason).toContain('`write` (expected call 2)');
    expect(order?.reason).toContain('`read` (expected call 3)');
    expect(order?.reason).toContain('step 3, after step 2');
  });

  test('among equal calls, the one on the longest common subsequence of names is matched', () => {
    const scores = scoresOf({ calls: wanted('b', 'a') }, ['a', 'b', 'a']);
    expect(scores['tool_order']?.value).toBe(1);
    expect(scores['tool_score']?.details?.['pairs']).toEqual([1, 2]);
  });

  test('T4: one expected and none made is 0; none expected and none made is 1', () => {
    expect(value({ calls: wanted('a') }, [], 'tool_score')).toBe(0);
    expect(value({ calls: [] }, [], 'tool_score')).toBe(1);
    expect(value({ calls: [] }, ['a'], 'tool_score')).toBe(0);
    expect(scoresOf({}, ['a'])['tool_score']).toBeUndefined();
  });

  test('T5: repeated extras cost nothing, other tools lower tool_names, never above 1', () => {
    const call = { tool: 'rate', args: { pair: 'EURUSD' } };
    const scores = scoresOf({ calls: wanted(['rate', { pair: 'EURUSD' }]) }, [call, call, call]);
    for (const scorer of ['tool_score', 'tool_names', 'tool_args', 'tool_order']) expect(scores[scorer]?.value).toBe(1);
    expect(scores['tool_precision']?.value).toBeCloseTo(1 / 3, 12);
    expect(value({ calls: wanted(['rate', { pair: 'EURUSD' }]) }, [call, 'other'], 'tool_names')).toBe(0.5);
  });

  test('weights are configurable', () => {
    const suite = { tool_score: { weights: { names: 1, args: 0, order: 0 }, profile: 'weighted' as const } };
    const scores = scoresOf({ calls: wanted(['a', { x: 1 }]) }, [{ tool: 'a', args: { x: 2 } }], { suite });
    expect(scores['tool_score']?.value).toBe(1);
  });

  test('args ignore drops the call from tool_args; other modes do not change it', () => {
    const calls = wanted(['a', { x: 1 }], ['b', { y: 1 }]);
    const made = [
      { tool: 'a', args: { x: 2 } },
      { tool: 'b', args: { y: 1, z: 3 } },
    ];
    expect(value({ calls }, made, 'tool_args')).toBe(0.5);
    expect(value({ calls, args: 'subset' }, made, 'tool_args')).toBe(0.5);
    expect(value({ calls, args: { a: 'ignore' } }, made, 'tool_args')).toBe(1);
  });
});

describe('profile source', () => {
  const suite = { tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'source' as const } };
  const scored = (calls: Expected['calls'], made: MadeCall[], scorer: string): number | null | undefined =>
    scoresOf({ calls: calls ?? [] }, made, { suite })[scorer]?.value;

  test('arguments of calls that were not made are skipped', () => {
    expect(scored(wanted(['a', { x: 1 }], ['b', { y: 1 }]), [{ tool: 'a', args: { x: 1 } }], 'tool_args')).toBe(1);
  });

  test('the first made call of a name is the one compared', () => {
    const made = [
      { tool: 'a', args: { x: 2 } },
      { tool: 'a', args: { x: 1 } },
    ];
    expect(scored(wanted(['a', { x: 1 }]), made, 'tool_args')).toBe(0);
    expect(value({ calls: wanted(['a', { x: 1 }]) }, made, 'tool_args')).toBe(1);
  });

  test.each([
    [['a', 'b'], ['a', 'b'], 1],
    [['a', 'b'], ['b', 'a'], 0.5],
    [['a', 'b'], ['a', 'c'], 0.5],
    [['a', 'b'], ['a'], 1],
    [['a'], ['b', 'a'], 1],
    [['a', 'b', 'c'], ['a', 'c', 'b'], 1],
  ])('order of %j against %j is %d', (calls, made, order) => {
    expect(scored(wanted(...calls), made, 'tool_order')).toBe(order);
  });

  test('total is the weighted sum', () => {
    expect(scored(wanted('a', 'b'), ['b', 'a'], 'tool_score')).toBeCloseTo(0.85, 12);
  });
});

describe('match modes', () => {
  test('T6: calls of one turn have no order among themselves', () => {
    const calls = wanted('a', 'b');
    const made = [
      { tool: 'b', turn: 0 },
      { tool: 'a', turn: 0 },
    ];
    expect(value({ calls }, made, 'tool_order')).toBe(1);
    expect(match(calls, made, 'strict')).toBe(true);
    expect(match(calls, made, 'in_order')).toBe(true);
    expect(match(calls, ['b', 'a'], 'strict')).toBe(false);
    expect(match(calls, ['b', 'a'], 'in_order')).toBe(false);
    expect(value({ calls }, ['b', 'a'], 'tool_order')).toBe(0);
  });

  test('each mode on its own ground', () => {
    const calls = wanted('a', 'b');
    const verdicts = (made: MadeCall[]): Record<string, unknown> =>
      Object.fromEntries(
        (['strict', 'unordered', 'superset', 'subset', 'in_order', 'first'] as const).map((mode) => [
          mode,
          match(calls, made, mode),
        ]),
      );
    expect(verdicts(['a', 'b'])).toEqual({
      strict: true,
      unordered: true,
      superset: true,
      subset: true,
      in_order: true,
      first: true,
    });
    expect(verdicts(['b', 'a'])).toEqual({
      strict: false,
      unordered: true,
      superset: true,
      subset: true,
      in_order: false,
      first: false,
    });
    expect(verdicts(['a', 'x', 'b'])).toEqual({
      strict: false,
      unordered: false,
      superset: true,
      subset: false,
      in_order: true,
      first: true,
    });
    expect(verdicts(['a'])).toEqual({
      strict: false,
      unordered: false,
      superset: false,
      subset: true,
      in_order: false,
      first: true,
    });
    expect(verdicts(['a', 'a', 'b'])).toEqual({
      strict: false,
      unordered: false,
      superset: true,
      subset: false,
      in_order: true,
      first: true,
    });
    expect(verdicts([])).toEqual({
      strict: false,
      unordered: false,
      superset: false,
      subset: true,
      in_order: false,
      first: false,
    });
  });

  test('an expectation of no calls: any call is wrong under every mode', () => {
    for (const mode of ['strict', 'unordered', 'superset', 'subset', 'in_order', 'first'] as const) {
      expect(match([], [], mode)).toBe(true);
      expect(match([], ['a'], mode)).toBe(false);
    }
  });

  test('first looks at the whole first calling turn', () => {
    const made = [
      { tool: 'x', turn: 2 },
      { tool: 'a', turn: 2, args: { q: 1, extra: 2 } },
      { tool: 'b', turn: 3 },
    ];
    expect(match(wanted(['a', { q: 1 }]), made, 'first', 'superset')).toBe(true);
    expect(match(wanted(['a', { q: 1 }]), made, 'first')).toBe(false);
    expect(match(wanted('b'), made, 'first')).toBe(false);
  });

  test('in_order over turns with several calls takes what fits best', () => {
    const calls = wanted(['a', { x: { any: true } }], ['a', { x: 1 }], 'b');
    const made = [
      { tool: 'a', turn: 0, args: { x: 1 } },
      { tool: 'a', turn: 0, args: { x: 5 } },
      { tool: 'b', turn: 1 },
    ];
    expect(match(calls, made, 'in_order')).toBe(true);
    expect(match(calls, made, 'strict')).toBe(true);
  });

  test('T11: the reason names index, tool, key, wanted and got', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const calls = wanted(...names.map((name): [string, JsonObject] => [name, { city: 'Oslo', days: 3 }]));
    const made = names.map((name) => ({ tool: name, args: { city: name === 'd' ? 'Rome' : 'Oslo', days: 3 } }));
    for (const mode of ['strict', 'unordered', 'superset', 'in_order', 'subset'] as const) {
      const score = scoresOf({ calls, match: mode }, made)['tool_match'];
      expect(score?.passed).toBe(false);
      for (const part of ['index 3', '`d`', '`city`', 'wanted "Oslo"', 'got "Rome"', mode])
        expect(score?.reason).toContain(part);
      expect(score?.details?.['first_wrong']).toEqual({
        expected_index: 3,
        made_index: 3,
        tool: 'd',
        key: 'city',
        wanted: '"Oslo"',
        got: '"Rome"',
      });
    }
    const args = scoresOf({ calls }, made)['tool_args'];
    for (const part of ['index 3', '`d`', '`city`', 'wanted "Oslo"', 'got "Rome"'])
      expect(args?.reason).toContain(part);
  });

  test('a missing second call of a tool: which one, with its arguments, and what the call that was made stands for', () => {
    const reasons = (calls: Expected['calls'], made: MadeCall[], mode: MatchMode): string | undefined =>
      scoresOf({ calls: calls ?? [], match: mode }, made)['tool_match']?.reason;
    const [first, second]: [string, JsonObject][] = [
      ['quote', { sym: 'AB' }],
      ['quote', { sym: 'CD' }],
    ];
    for (const mode of ['strict', 'unordered', 'superset', 'in_order'] as const) {
      expect(reasons(wanted(first!, second!), [{ tool: 'quote', args: { sym: 'AB' } }], mode)).toBe(
        `${mode}: expected call 2 of 2 (index 1) \`quote\`: wanted a call of quote {"sym": "CD"}, got only call 1, which is expected call 1`,
      );
      expect(reasons(wanted(first!, second!), ['other', { tool: 'quote', args: { sym: 'CD' } }], mode)).toContain(
        '(index 0) `quote`: wanted a call of quote {"sym": "AB"}, got only call 2, which is expected call 2',
      );
    }
    expect(reasons(wanted(first!, first!), [{ tool: 'quote', args: { sym: 'AB' } }], 'unordered')).toContain(
      'expected call 2 of 2 (index 1) `quote`: wanted a call of quote {"sym": "AB"}, got only call 1',
    );
    expect(reasons(wanted(first!), ['other'], 'superset')).toContain('got calls of other');
    expect(reasons(wanted(first!), [], 'superset')).toContain('got no call');
  });

  test('T12: the deciding mode is visible; outcome checks are independent of it', () => {
    const calls = wanted(['get_order', { id: 1 }], ['get_order', { id: 2 }], ['update', { id: 2 }]);
    const made = [
      { tool: 'get_order', args: { id: 2 } },
      { tool: 'update', args: { id: 2 } },
    ];
    const superset = scoresOf({ calls, match: 'superset', answer_contains: ['done'] }, made);
    expect(superset['tool_match']?.passed).toBe(false);
    expect(superset['tool_match']?.reason).toMatch(/^superset: /);
    expect(superset['tool_match']?.details?.['mode']).toBe('superset');
    expect(superset['answer_contains']?.passed).toBe(true);
    expect(match(calls, made, 'strict')).toBe(false);
  });

  test('T11: without a match mode too, tool_args holds the first wrong argument as fields', () => {
    const calls = wanted(['a', { x: 1 }], ['b', { city: 'Oslo' }], ['c', { y: 1 }]);
    const made = [
      { tool: 'a', args: { x: 1 } },
      { tool: 'b', args: { city: 'Rome' } },
    ];
    expect(scoresOf({ calls }, made)['tool_args']?.details).toEqual({
      first_wrong: { expected_index: 1, made_index: 1, tool: 'b', key: 'city', wanted: '"Oslo"', got: '"Rome"' },
    });
    expect(scoresOf({ calls }, [made[0]!])['tool_args']?.details).toMatchObject({
      first_wrong: {
        expected_index: 1,
        made_index: null,
        tool: 'b',
        key: '',
        wanted: '{"city": "Oslo"}',
        got: 'not called',
      },
    });
    expect(scoresOf({ calls: calls.slice(0, 1) }, made)['tool_args']?.details).toBeNull();
  });

  test('T14: one optimal assignment, so listing order never decides', () => {
    const calls = wanted(['f', {}], ['f', { a: 1 }]);
    const made = [
      { tool: 'f', args: { a: 1 } },
      { tool: 'f', args: { b: 2 } },
    ];
    for (const listed of permutations(calls)) {
      for (const order of permutations(made)) expect(match(listed, order, 'unordered', 'superset')).toBe(true);
    }
  });

  test('T17: expected arguments, called with {}', () => {
    const calls = wanted(['f', { a: 1, b: 2 }]);
    const made = [{ tool: 'f', args: {} }];
    expect(value({ calls }, made, 'tool_args')).toBe(0);
    expect(match(calls, made, 'unordered')).toBe(false);
    expect(match(calls, made, 'unordered', 'superset')).toBe(false);
    expect(match(calls, made, 'unordered', 'subset')).toBe(true);
  });

  test('alternatives: a passing match first, then the best score, then the listed order; the one that counts is named', () => {
    const any_of = [
      { name: 'slow', calls: wanted('a', 'b'), match: 'strict' as const },
      { name: 'quick', calls: wanted('c'), match: 'strict' as const },
    ];
    const quick = scoresOf({ any_of }, ['c']);
    expect(quick['tool_match']?.passed).toBe(true);
    expect(quick['tool_match']?.reason).toContain('[quick]');
    expect(quick['tool_score']?.value).toBe(1);
    const none = scoresOf({ any_of }, ['a']);
    expect(none['tool_match']).toMatchObject({ passed: false });
    expect(none['tool_match']?.details?.['alternative']).toBe('slow');
    const better = scoresOf({ any_of: [{ calls: wanted('x', 'a') }, { calls: wanted('a') }] }, ['a']);
    expect(better['tool_score']).toMatchObject({ value: 1, details: { alternative: 'alternative 2' } });
    // Strict fails with 0.7; subset passes with 0.4 · 2/3 + 0.3.
    const passing = scoresOf(
      {
        any_of: [
          { calls: wanted('a', 'b'), match: 'strict' },
          { calls: wanted('a', 'b', 'c'), match: 'subset' },
        ],
      },
      ['b', 'a'],
    );
    expect(passing['tool_match']).toMatchObject({ passed: true, details: { alternative: 'alternative 2' } });
    expect(passing['tool_score']?.value).toBeCloseTo(0.4 * (2 / 3) + 0.3, 12);
    const tie = scoresOf({ any_of: [{ calls: wanted('x') }, { calls: wanted('y') }] }, []);
    expect(tie['tool_score']?.details?.['alternative']).toBe('alternative 1');
  });
});

describe('malformed calls', () => {
  const live = (raw: Json): ReturnType<typeof trajectoryFromMessages> =>
    trajectoryFromMessages(
      [
        { role: 'assistant', content: null, tool_calls: [raw] },
        { role: 'assistant', content: 'done' },
      ],
      {
        readToolCall,
      },
    );

  test('one counts as made under its name, matches nothing, and is no step done', () => {
    const expected: Expected = {
      calls: wanted('f'),
      match: 'superset',
      steps: ['f'],
      calls_per_tool: { f: { max: 0 } },
    };
    for (const args of [null, { x: 1 }]) {
      const scores = scoresOf(expected, [{ tool: 'f', args, raw_arguments: '{"x":1', malformed: 'not JSON' }]);
      expect([args, scores['tool_match']?.passed, scores['tool_recall']?.value]).toEqual([args, false, 0]);
      expect(scores['tool_names']?.value).toBe(1);
      expect(scores['progress_rate']?.value).toBe(0);
      expect(scores['calls_per_tool']?.passed).toBe(false);
    }
  });

  test.each([
    [{ id: '1', type: 'custom', custom: { name: 'f', input: 'x' } }],
    [{ id: '1', type: 'function', function: null }],
    ['oops'],
  ])('T7: %j is recorded as malformed and matches nothing', (raw) => {
    const made = live(raw as Json);
    expect(made.tool_calls).toHaveLength(1);
    expect(made.tool_calls[0]?.malformed).not.toBeNull();
    const scores = scoresOf({ calls: wanted('f'), match: 'superset', must_call: ['f'], max_tool_calls: 0 }, made);
    expect(scores['tool_match']?.passed).toBe(false);
    expect(scores['tool_score']?.value).toBe(0);
    expect(scores['must_call']?.passed).toBe(false);
    expect(scores['max_tool_calls']?.passed).toBe(false);
    expect(scores['answer_contains']).toBeUndefined();
    expect(scoresOf({ answer_contains: ['done'] }, made)['answer_contains']?.passed).toBe(true);
  });

  test.each(['', null])('T8: content %j beside a good call', (content) => {
    const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const made = trajectoryFromMessages(
      [
        { role: 'assistant', content, tool_calls: [call] },
        { role: 'tool', tool_call_id: '1', content: 'ok' },
        { role: 'assistant', content: 'done' },
      ],
      { readToolCall },
    );
    expect(made.tool_calls).toMatchObject([{ tool: 'f', args: { a: 1 }, result: 'ok' }]);
    expect(made.answer).toBe('done');
    expect(scoresOf({ calls: wanted(['f', { a: 1 }]), match: 'strict' }, made)['tool_match']?.passed).toBe(true);
  });

  test.each(['{}""', '', '"null"', 'null', "{'a':1}", '{"a":1}{"a":1}'])(
    'T9: arguments %j are malformed, never {}',
    (text) => {
      const made = live({ id: '1', type: 'function', function: { name: 'f', arguments: text } });
      expect(made.tool_calls[0]).toMatchObject({ tool: 'f', args: null, raw_arguments: text });
      const scores = scoresOf({ calls: wanted(['f', {}]), match: 'unordered', args: 'subset' }, made);
      expect(scores['tool_match']?.passed).toBe(false);
      expect(scores['tool_match']?.reason).toContain('malformed');
      expect(scores['tool_schema']?.passed).toBe(false);
    },
  );

  test('T10: two calls of a turn with equal or empty ids are two calls with two results, in order', () => {
    for (const id of ['same', '']) {
      const call = (a: number): Json => ({ id, type: 'function', function: { name: 'f', arguments: `{"a":${a}}` } });
      const made = trajectoryFromMessages(
        [
          { role: 'assistant', content: null, tool_calls: [call(1), call(2)] },
          { role: 'tool', tool_call_id: id, content: 'first' },
          { role: 'tool', tool_call_id: id, content: 'second' },
        ],
        { readToolCall },
      );
      expect(made.tool_calls.map(({ args, result, turn }) => [args, result, turn])).toEqual([
        [{ a: 1 }, 'first', 0],
        [{ a: 2 }, 'second', 0],
      ]);
    }
  });
});

describe('argument comparison', () => {
  const equal = (a: Json, b: Json, args: ArgsMode = 'exact'): boolean =>
    match(wanted(['f', { x: a }]), [{ tool: 'f', args: { x: b } }], 'unordered', args) === true;

  test('T13: big, deep and hostile arguments are compared safely', () => {
    const big = { text: 'x'.repeat(5_000_000) };
    expect(equal(big, { text: 'x'.repeat(5_000_000) })).toBe(true);
    expect(equal(big, { text: `${'x'.repeat(4_999_999)}y` })).toBe(false);
    const deep = (levels: number, leaf: Json): Json =>
      JSON.parse(`${'['.repeat(levels)}${JSON.stringify(leaf)}${']'.repeat(levels)}`) as Json;
    expect(equal(deep(200, 1), deep(200, 1))).toBe(true);
    expect(equal(deep(200, 1), deep(200, 2))).toBe(false);
    expect(equal(deep(100_000, 1), deep(100_000, 1))).toBe(false);
    const proto = json('{"__proto__": {"polluted": 1}, "constructor": 2}');
    expect(equal(proto, json('{"constructor": 2, "__proto__": {"polluted": 1}}'))).toBe(true);
    expect(equal(proto, json('{"constructor": 2}'))).toBe(false);
    expect(equal(json('{"constructor": 2}'), {})).toBe(false);
    expect(equal({}, json('{"__proto__": {}}'))).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const number = (text: string): Json => json(`{"n": ${text}}`)['n'] ?? null;
    expect(equal(number('9007199254740993'), number('9007199254740992'))).toBe(false);
    expect(equal(number('9007199254740993'), number('9007199254740993'))).toBe(true);
    expect(equal(number('9007199254740993'), 9007199254740992)).toBe(false);
    expect(equal(number('9007199254740992'), 9007199254740992)).toBe(true);
    expect(equal(number('1.0'), number('1'))).toBe(true);
    expect(equal(number('1e400'), number('10e399'))).toBe(true);
    expect(equal(number('1e400'), number('1e401'))).toBe(false);
    expect(equal(number('-0.0'), 0)).toBe(true);
    expect(equal(Number.NaN, Number.NaN)).toBe(false);
  });

  test('T15: nothing is coerced', () => {
    expect(equal([1], { '0': 1 })).toBe(false);
    expect(equal({ '0': 1 }, [1])).toBe(false);
    expect(equal(true, 1)).toBe(false);
    expect(equal('1', 1)).toBe(false);
    expect(equal(null, 0)).toBe(false);
    expect(equal({ coerce: '1' }, 1)).toBe(true);
    expect(equal({ coerce: 7 }, '7.0')).toBe(true);
    expect(equal({ coerce: 7 }, '8')).toBe(false);
    expect(equal({ coerce: true }, 'true')).toBe(true);
    expect(equal({ coerce: true }, 1)).toBe(false);
    expect(equal(0.3, 0.1 + 0.2)).toBe(false);
    expect(equal({ number: { value: 0.3, abs: 1e-9 } }, 0.1 + 0.2)).toBe(true);
    expect(equal({ number: { value: 0.3 } }, 0.1 + 0.2)).toBe(false);
  });

  test('T16: modes reach into nested objects and array elements, matchers too', () => {
    const expected = { filter: { tags: [{ name: 'a' }], when: { any_of: [{ y: 1 }, { y: 2 }] } } };
    const more = { filter: { tags: [{ name: 'a', id: 1 }], when: { y: 2, m: 3 }, page: 1 } };
    expect(equal(expected, more, 'superset')).toBe(true);
    expect(equal(expected, more, 'exact')).toBe(false);
    expect(equal(expected, more, 'subset')).toBe(false);
    const less = { filter: { tags: [{}], when: {} } };
    expect(equal(expected, less, 'subset')).toBe(true);
    expect(equal(expected, less, 'superset')).toBe(false);
    expect(equal(expected, { filter: { tags: [{ name: 'b', id: 1 }], when: { y: 2 } } }, 'superset')).toBe(false);
    expect(equal([{ a: 1 }, { b: 1 }], [{ a: 1, z: 0 }, { b: 1 }], 'superset')).toBe(true);
    expect(equal([{ a: 1 }, { b: 1 }], [{ b: 1 }, { a: 1 }], 'superset')).toBe(false);
  });

  test('D4: strings are equal after NFC; nothing else is normalised in arguments', () => {
    expect(equal('caf\u00e9', 'cafe\u0301')).toBe(true);
    expect(equal('88', '８８')).toBe(false);
    expect(equal('a b', 'a\u00a0b')).toBe(false);
  });

  test.each<[string, Json, Json[], Json[]]>([
    ['any_of', { any_of: ['late', 'broken', { regex: '^x' }] }, ['late', 'broken', 'xy'], ['lost', null, ['late']]],
    ['number', { number: { value: 100, rel: 0.05 } }, [95, 105, 100], [94.9, 106, '100', null]],
    ['number abs', { number: { value: -1, abs: 0.1 } }, [-1.1, -0.9], [1, -1.2]],
    ['number coerced', { number: { value: 3, abs: 1 }, coerce: true }, ['2.5', 4], ['x', '9']],
    ['regex', { regex: '^A[0-9]+$' }, ['A1', 'A22'], ['a1', 'xA1', 1]],
    ['regex ignore case', { regex: '^a[0-9]+$', ignore_case: true }, ['A1'], ['B1']],
    ['ignore_case', { ignore_case: 'Paris' }, ['paris', 'PARIS'], ['Rome', null]],
    ['ignore_case nested', { ignore_case: { city: ['Paris'] } }, [{ city: ['PARIS'] }], [{ city: ['ROME'] }]],
    ['any_of ignore_case', { any_of: ['a', 'b'], ignore_case: true }, ['A', 'B'], ['C']],
    [
      'date',
      { date: { value: '2024-05-01', format: 'DD/MM/YYYY' } },
      ['01/05/2024'],
      ['05/01/2024', '2024-05-01', '31/04/2024'],
    ],
    ['date iso', { date: { value: '2024-05-01' } }, ['2024-05-01', '2024-05-01T10:00:00Z'], ['2024-05-02', 'May 1']],
    [
      'date in its own zone',
      { date: { value: '2024-05-01' } },
      ['2024-05-01T23:00:00-05:00', '2024-05-01T00:30:00+08:00'],
      ['2024-05-02T00:30:00+08:00'],
    ],
    ['number beyond a double, with a tolerance', { number: { value: { $bignum: '1e400' }, rel: 0.1 } }, [], [5, 1e308]],
    [
      'date formats',
      { date: { value: '2024-05-01', format: ['D MMM YYYY', 'MMMM D, YYYY'] } },
      ['1 May 2024', 'May 1, 2024'],
      ['1 Mai 2024'],
    ],
    [
      'date moment',
      { date: { value: '2024-05-01T12:00:00+02:00' } },
      ['2024-05-01T10:00:00Z'],
      ['2024-05-01T12:00:00Z', '2024-05-01'],
    ],
    [
      'unordered',
      { unordered: [1, { any_of: [2, 3] }] },
      [
        [1, 2],
        [3, 1],
      ],
      [[1], [1, 2, 3], [2, 2], '12'],
    ],
    ['unordered equals', { equals: [1, 2], unordered: true }, [[2, 1]], [[1]]],
    [
      'schema',
      { schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
      [{ id: 1 }],
      [{}, { id: 'x' }, 1],
    ],
    ['any', { any: true }, [null, 1, '', {}], []],
    ['equals escapes', { equals: { any_of: [1] } }, [{ any_of: [1] }], [1, { any_of: [2] }]],
    ['no matcher', { any_of: [1], other: 2 }, [{ any_of: [1], other: 2 }], [1]],
    ['empty object is a literal', {}, [{}], [{ a: 1 }, 1]],
  ])('matcher %s', (_name, matcher, right, wrong) => {
    for (const made of right) expect([made, equal(matcher, made)]).toEqual([made, true]);
    for (const made of wrong) expect([made, equal(matcher, made)]).toEqual([made, false]);
  });

  test('optional accepts absence or, alone, any value; any wants a value', () => {
    const made = (args: JsonObject, expected: JsonObject): boolean | null | undefined =>
      match(wanted(['f', expected]), [{ tool: 'f', args }], 'unordered');
    expect(made({}, { note: { optional: true } })).toBe(true);
    expect(made({ note: 5 }, { note: { optional: true } })).toBe(true);
    expect(made({}, { note: { any_of: ['a'], optional: true } })).toBe(true);
    expect(made({ note: 'b' }, { note: { any_of: ['a'], optional: true } })).toBe(false);
    expect(made({}, { note: { any: true } })).toBe(false);
    expect(made({}, { note: { optional: false } })).toBe(false);
    expect(made({ a: {} }, { a: { b: { optional: true } } })).toBe(true);
    expect(
      value({ calls: wanted(['f', { a: 1, note: { optional: true } }]) }, [{ tool: 'f', args: { a: 1 } }], 'tool_args'),
    ).toBe(1);
  });

  test.each<[string, Json]>([
    ['regex with look-around', { regex: '(?=a)b' }],
    ['number without value', { number: { abs: 1 } }],
    ['any_of without list', { any_of: 'a' }],
    ['date that is none', { date: { value: 'soon' } }],
    ['unordered beside nothing to compare', { unordered: true }],
    ['unordered beside nothing to compare, optional', { unordered: true, optional: true }],
    ['any that is switched off', { any: false }],
  ])('a matcher that cannot be read (%s) never matches, and says how to mend it', (_name, matcher) => {
    const score = scoresOf({ calls: wanted(['f', { x: matcher }]), match: 'strict' }, [
      { tool: 'f', args: { x: 'a' } },
    ])['tool_match'];
    expect(score?.passed).toBe(false);
    expect(score?.reason).toContain('equals');
  });

  test('D10: a hostile regex on 50 kB takes bounded time', () => {
    const text = `${'a'.repeat(50_000)}!`;
    const started = performance.now();
    expect(equal({ regex: '(a+)+$' }, text)).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('precision, recall, F1 and progress', () => {
  test('over calls matched by name', () => {
    const scores = scoresOf({ calls: wanted('a', 'b', 'c') }, ['a', 'c', 'x', 'a']);
    expect(scores['tool_precision']?.value).toBe(0.5);
    expect(scores['tool_recall']?.value).toBeCloseTo(2 / 3, 12);
    expect(scores['tool_f1']?.value).toBeCloseTo(4 / 7, 12);
  });

  test('progress: steps, else expected calls with right arguments, else must_call', () => {
    expect(value({ steps: ['a', 'a', 'b'] }, ['a', 'b'], 'progress_rate')).toBeCloseTo(2 / 3, 12);
    expect(value({ calls: wanted(['a', { x: 1 }], 'b') }, [{ tool: 'a', args: { x: 2 } }, 'b'], 'progress_rate')).toBe(
      0.5,
    );
    expect(value({ must_call: ['a', 'b'] }, ['b'], 'progress_rate')).toBe(0.5);
    const all: Expected = { steps: ['a'], calls: wanted('b', 'c'), must_call: ['c'] };
    expect(value(all, ['a'], 'progress_rate')).toBe(1);
    expect(value({ ...all, steps: [] }, ['b'], 'progress_rate')).toBe(0.5);
    expect(scoresOf({}, ['b'])['progress_rate']).toBeUndefined();
  });
});
