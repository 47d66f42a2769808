import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removePath } from '../../../src/agents/mock/mock-state.ts';
import { fill, writeState } from '../../../src/agents/mock/mock-values.ts';
import { createMockWorld } from '../../../src/agents/mock/mock-world.ts';
import type { CaseMock } from '../../../src/core/case.ts';
import type { Json } from '../../../src/core/json.ts';
import { caseOf, fakeTime } from './trial-fixture.ts';

const NEVER = new AbortController().signal;
const BEFORE = {
  state: { order: { id: 88, items: ['a', 'b'], note: '{{args.reason}}' }, open: true },
  args: { reason: 'late', nested: { deep: 1 }, 'dotted.name': 'x' },
};

describe('reading', () => {
  test.each<[string, Json, Json]>([
    ['a text that is a placeholder alone is the value', '{{state.order.id}}', 88],
    ['whatever its type', '{{ state.order.items }}', ['a', 'b']],
    ['inside a longer text it is written out', 'Order {{state.order.id}}: {{args.reason}}', 'Order 88: late'],
    ['lists and objects as JSON', 'items {{state.order.items}}', 'items ["a","b"]'],
    ['what is not there is null', '{{state.nowhere}}', null],
    ['also in a text', 'it is {{state.nowhere}}', 'it is null'],
    ['an argument by a path', '{{args.nested.deep}}', 1],
    ['or by its whole name', { $arg: 'dotted.name' }, 'x'],
    ['at every depth', { a: [{ b: '{{args.reason}}' }] }, { a: [{ b: 'late' }] }],
    ['what is filled in is not read again', '{{state.order.note}}', '{{args.reason}}'],
    ['nor inside a text', 'note: {{state.order.note}}', 'note: {{args.reason}}'],
    ['$literal keeps it', { $literal: '{{state.order.id}}' }, '{{state.order.id}}'],
    ['other braces are text', '{{user.name}} { } {{', '{{user.name}} { } {{'],
    ['no prototype is reached', '{{state.constructor.name}}', null],
    ['nor by an argument', '{{args.__proto__}}', null],
  ])('%s', (_name, value, expected) => {
    expect(fill(value, BEFORE)).toEqual(expected);
  });

  test('a value without placeholders is itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!/\{\{|\$(state|arg|literal)/.test(JSON.stringify(value)));
        expect(fill(value as Json, BEFORE)).toEqual(value);
      }),
    );
  });
});

describe('writing', () => {
  const write = (path: string, value: Json): Json =>
    writeState({ n: 2, list: [1], a: { b: 1, c: 2 } }, path, value, BEFORE);
  test.each<[string, string, Json, Json]>([
    ['$add adds', 'n', { $add: -0.5 }, { n: 1.5, list: [1], a: { b: 1, c: 2 } }],
    ['$add begins at 0', 'm', { $add: { $arg: 'nested.deep' } }, { n: 2, list: [1], a: { b: 1, c: 2 }, m: 1 }],
    ['$append puts at the end', 'list', { $append: '{{args.reason}}' }, { n: 2, list: [1, 'late'], a: { b: 1, c: 2 } }],
    ['$append begins a list', 'a.new', { $append: 1 }, { n: 2, list: [1], a: { b: 1, c: 2, new: [1] } }],
    ['$remove takes away', 'a.b', { $remove: true }, { n: 2, list: [1], a: { c: 2 } }],
    ['$remove of nothing is nothing', 'x.y', { $remove: true }, { n: 2, list: [1], a: { b: 1, c: 2 } }],
    ['a value replaces', 'a', 'text', { n: 2, list: [1], a: 'text' }],
  ])('%s', (_name, path, value, expected) => {
    expect(write(path, value)).toEqual(expected);
  });

  test('removing an item moves the others up, and leaves the state given as it was', () => {
    const state = { list: ['a', { x: 1, y: 2 }, 'c'] };
    expect(removePath(state, 'list[0]')).toEqual({ list: [{ x: 1, y: 2 }, 'c'] });
    expect(removePath(state, 'list[1].x')).toEqual({ list: ['a', { y: 2 }, 'c'] });
    expect(state).toEqual({ list: ['a', { x: 1, y: 2 }, 'c'] });
  });
});

describe('a world', () => {
  const world = (mock: CaseMock): ReturnType<typeof createMockWorld> =>
    createMockWorld(caseOf({ mock }), { fixtures: {} }, { sleep: fakeTime().sleep });

  test('when: a fixture answers only while the state is so, and before one without', async () => {
    const of = world({
      state: { paid: true },
      tools: [
        { tool: 'refund', replies: [{ result: 'refunded already' }] },
        {
          tool: 'refund',
          when: { paid: true },
          replies: [{ result: 'refunded', set_state: { paid: { $remove: true } } }],
        },
        { tool: 'status', when: { paid: null }, replies: [{ result: 'not paid' }] },
      ],
    });
    const results = [];
    for (const tool of ['status', 'refund', 'refund', 'status']) {
      const { result, error } = await of.call(tool, {}, NEVER);
      results.push(error?.kind ?? result);
    }
    expect(results).toEqual(['no_fixture', 'refunded', 'refunded already', 'not paid']);
    expect(() => world({ tools: [{ tool: 't', when: { 'a..b': 1 }, replies: [{}] }] })).toThrow('looks at "a..b"');
  });

  test('truncated: the result as JSON, cut; the agent sees the text', async () => {
    const of = world({
      tools: [
        { tool: 'half', replies: [{ result: { id: 88, ok: true }, fail: { kind: 'truncated' } }] },
        { tool: 'four', replies: [{ result: { id: 88 }, fail: { kind: 'truncated', chars: 4 } }] },
      ],
    });
    expect(await of.call('half', {}, NEVER)).toEqual({
      result: '{"id":88,',
      error: { kind: 'truncated', message: 'the answer of half was cut off' },
      unmatched: false,
    });
    expect((await of.call('four', {}, NEVER)).result).toBe('{"id');
  });
});
