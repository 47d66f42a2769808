import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ExpectedCall } from '../../../src/core/case.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import { equalityKey, jsonEqual } from '../../../src/scorers/values/equality.ts';
import type { MadeCall } from './fixtures.ts';
import { SUITE, evalCase, scoresOf, trajectory } from './fixtures.ts';

const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 2 }), {
  maxKeys: 3,
}) as fc.Arbitrary<JsonObject>;
const name = fc.constantFrom('read', 'write', 'send');
const expectedCall: fc.Arbitrary<ExpectedCall> = fc.record({ tool: name, args: fc.option(args, { freq: 4 }) });
const madeCall = fc.record({ tool: name, args: fc.option(args, { freq: 8 }), turn: fc.integer({ min: 0, max: 3 }) });
const expected = fc.array(expectedCall, { maxLength: 5 });
/** Turns never go back: calls are recorded in the order made. */
const made = fc
  .array(madeCall, { maxLength: 6 })
  .map((calls) => calls.toSorted((a, b) => a.turn - b.turn) as MadeCall[]);
const MODES = ['strict', 'unordered', 'superset', 'subset', 'in_order', 'first'] as const;
const mode = fc.constantFrom(...MODES);
const argsMode = fc.constantFrom('exact' as const, 'ignore' as const, 'subset' as const, 'superset' as const);

function withoutMalformed(calls: ExpectedCall[]): MadeCall[] {
  return calls.map((call) => ({ tool: call.tool, args: call.args ?? {} }));
}

test('every value is in [0,1] or null, and no agent data makes a scorer throw', () => {
  const profile = fc.constantFrom('weighted' as const, 'source' as const, 'bfcl' as const);
  fc.assert(
    fc.property(expected, made, mode, argsMode, profile, (calls, calling, match, args, chosen) => {
      const suite = { tool_score: { ...SUITE.tool_score, profile: chosen } };
      for (const score of Object.values(scoresOf({ calls, match, args, must_call: ['read'] }, calling, { suite }))) {
        if (score.value !== null) {
          expect(score.value).toBeGreaterThanOrEqual(0);
          expect(score.value).toBeLessThanOrEqual(1);
        }
        expect(score.reason).not.toBe('');
      }
    }),
    { numRuns: 400 },
  );
});

test('identical lists give 1 in every part and pass every mode', () => {
  fc.assert(
    fc.property(expected, mode, argsMode, (calls, match, args) => {
      const scores = scoresOf({ calls, match, args }, withoutMalformed(calls));
      for (const scorer of [
        'tool_score',
        'tool_names',
        'tool_args',
        'tool_order',
        'tool_match',
        'tool_precision',
        'tool_recall',
        'tool_f1',
      ]) {
        expect([scorer, scores[scorer]?.value]).toEqual([scorer, 1]);
      }
    }),
    { numRuns: 300 },
  );
});

test('listing order of expected calls never changes names, args, recall or the order-free modes', () => {
  const shuffled = expected.chain((calls) =>
    fc.tuple(fc.constant(calls), fc.shuffledSubarray(calls, { minLength: calls.length, maxLength: calls.length })),
  );
  fc.assert(
    fc.property(
      shuffled,
      made,
      fc.constantFrom('unordered' as const, 'superset' as const, 'subset' as const),
      argsMode,
      ([calls, other], calling, match, args) => {
        const a = scoresOf({ calls, match, args }, calling);
        const b = scoresOf({ calls: other, match, args }, calling);
        for (const scorer of ['tool_match', 'tool_names', 'tool_args', 'tool_precision', 'tool_recall', 'tool_f1']) {
          expect([scorer, b[scorer]?.value]).toEqual([scorer, a[scorer]?.value]);
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('order of calls within one turn never changes strict, in_order or first', () => {
  fc.assert(
    fc.property(
      expected,
      made,
      fc.constantFrom('strict' as const, 'in_order' as const, 'first' as const),
      (calls, calling, match) => {
        const turn = (call: MadeCall): number => (typeof call === 'string' ? 0 : (call.turn ?? 0));
        const reversed = calling.toReversed().sort((a, b) => turn(a) - turn(b));
        const verdict = (list: MadeCall[]): unknown => scoresOf({ calls, match }, list)['tool_match']?.passed;
        expect(verdict(reversed)).toBe(verdict(calling));
      },
    ),
    { numRuns: 300 },
  );
});

test('a correct call more never lowers recall, names or arguments', () => {
  fc.assert(
    fc.property(expected, made, fc.nat(), (calls, calling, pick) => {
      fc.pre(calls.length > 0);
      const call = calls[pick % calls.length]!;
      const before = scoresOf({ calls }, calling);
      const after = scoresOf({ calls }, [...calling, { tool: call.tool, args: call.args ?? {}, turn: 9 }]);
      for (const scorer of ['tool_recall', 'tool_names', 'tool_args', 'progress_rate']) {
        expect(after[scorer]?.value ?? 0).toBeGreaterThanOrEqual(before[scorer]?.value ?? 0);
      }
    }),
    { numRuns: 400 },
  );
});

test('the modes imply each other: strict ⇒ unordered ⇒ superset and subset; strict ⇒ in_order ⇒ superset', () => {
  fc.assert(
    fc.property(expected, made, argsMode, (calls, calling, args) => {
      const passed = Object.fromEntries(
        MODES.map((match) => [match, scoresOf({ calls, match, args }, calling)['tool_match']?.passed]),
      );
      if (passed['strict']) expect(passed).toMatchObject({ unordered: true, in_order: true });
      if (passed['unordered']) expect(passed).toMatchObject({ superset: true, subset: true });
      if (passed['in_order']) expect(passed).toMatchObject({ superset: true });
    }),
    { numRuns: 400 },
  );
});

test('equality is reflexive and symmetric over JSON, whatever the key order', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const copy = JSON.parse(JSON.stringify(a)) as never;
      expect(jsonEqual(a as never, copy)).toBe(true);
      expect(jsonEqual(a as never, b as never)).toBe(jsonEqual(b as never, a as never));
    }),
    { numRuns: 300 },
  );
});

test('two values share a key exactly when they are equal', () => {
  const small = fc.jsonValue({ maxDepth: 2, depthSize: 'small' });
  const close = fc.oneof(small, fc.constantFrom(0, -0, '0', 'a', 'A', [0], ['0'], { a: 0 }, { a: '0' }, {}, [], null));
  fc.assert(
    fc.property(close, close, (a, b) => {
      expect(equalityKey(a as never) === equalityKey(b as never)).toBe(jsonEqual(a as never, b as never));
    }),
    { numRuns: 500 },
  );
});

test('equality of values nested too deep is false, not a crash', () => {
  const deep = (): never => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as never;
  expect(jsonEqual(deep(), deep())).toBe(false);
});

test('the same input gives the same scores', () => {
  const input = {
    evalCase: evalCase({ calls: [{ tool: 'a', args: { x: 1 } }], match: 'strict', answer_contains: ['done'] }),
    trajectory: trajectory([{ tool: 'a', args: { x: 2 } }]),
    suite: SUITE,
    costUsd: null,
  };
  expect(scoreTrial(structuredClone(input))).toEqual(scoreTrial(input));
});
