import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../../src/core/case.ts';
import { toolNamer } from '../../../../src/scorers/plan/named-tools.ts';
import { scoresOf, tool, trajectory } from '../fixtures.ts';
import type { MadeCall } from '../fixtures.ts';

const TOOLS = ['lookup_order', 'refundOrder', 'notify', 'search'].map((name) => tool(name, {}));

function planScores(
  parts: { points?: string[]; plan: string[] | null; calls?: MadeCall[] },
  fields: Partial<EvalCase> = {},
) {
  const { points = ['lookup_order', 'refundOrder'], plan, calls = [] } = parts;
  const made = trajectory(calls, { plan, available_tools: TOOLS });
  const scores = scoresOf(points.length === 0 ? {} : { plan: points }, made, { evalCase: fields });
  return { quality: scores['plan_quality'], consistency: scores['plan_consistency'] };
}

describe('tools a line of a plan names', () => {
  const named = toolNamer(['search', 'lookup_order', 'lookup_order_v2', 'weatherTool', 'orders.list', '天气']);

  test.each<[string, string[]]>([
    ['First lookup_order, then weatherTool.', ['lookup_order', 'weatherTool']],
    ['调用lookup_order查询订单', ['lookup_order']],
    ['lookup_order_v2 (not the old one)', ['lookup_order_v2']],
    ['use orders.list twice: orders.list again', ['orders.list']],
    ['search', ['search']],
    ['2. search.', ['search']],
    ['- search', ['search']],
    ['call `search` for it', ['search']],
    ['search(query="x")', ['search']],
    ['search the web for it', []],
    ['research weatherTools', []],
    ['天气', ['天气']],
    ['告诉用户今天的天气情况', []],
    ['LOOKUP_ORDER', []],
    ['', []],
  ])('%s', (line, wanted) => {
    expect(named(line)).toEqual(wanted);
  });

  test('no tools, no names; names that mean something to regular expressions are names', () => {
    expect(toolNamer([])('lookup_order')).toEqual([]);
    expect(toolNamer(['orders.list', 'orders.list.all'])('orders.list.all')).toEqual(['orders.list.all']);
    expect(toolNamer(['a.b_c', 'x+y', 'p(q'])('axb_c, `x+y`, `p(q`, a.b_c')).toEqual(['x+y', 'p(q', 'a.b_c']);
  });

  test('quick on long lines', () => {
    const line = `${' '.repeat(50_000)}search ${'lookup_orde '.repeat(20_000)}`;
    const from = performance.now();
    expect(named(line)).toEqual([]);
    expect(performance.now() - from).toBeLessThan(2_000);
  });
});

describe('plan_quality', () => {
  test('coverage by hand: one point of two, order of a single point is 1', () => {
    const { quality } = planScores({ plan: ['1. lookup_order of the customer', '2. say sorry'] });
    expect(quality).toMatchObject({ value: 0.5, passed: false, dimension: 'plan_quality', deciding: false });
    expect(quality?.details).toEqual({ coverage: 0.5, order_score: 1, settled: true });
    expect(quality?.reason).toBe('the plan has 1 of 2 required points; missing: `refundOrder`');
  });

  test.each<[string, string[], string[], number, number]>([
    ['all in order, extras allowed', ['lookup_order', 'refundOrder'], ['lookup_order', 'notify', 'refundOrder'], 1, 1],
    ['reversed', ['lookup_order', 'refundOrder'], ['refundOrder', 'lookup_order'], 1, 0],
    [
      'one pair of three out of order',
      ['lookup_order', 'refundOrder', 'notify'],
      ['lookup_order', 'notify', 'refundOrder'],
      1,
      2 / 3,
    ],
    ['one line holds both', ['lookup_order', 'refundOrder'], ['refundOrder after lookup_order'], 1, 1],
    ['twice wanted, once planned', ['lookup_order', 'lookup_order'], ['lookup_order'], 0.5, 1],
    [
      'an order that can be kept is',
      ['lookup_order', 'refundOrder'],
      ['refundOrder', 'lookup_order', 'refundOrder'],
      1,
      1,
    ],
    [
      'a point with two tools needs both',
      ['lookup_order and refundOrder', '`notify`'],
      ['lookup_order', 'notify'],
      0.5,
      1,
    ],
    ['an empty plan', ['lookup_order'], [], 0, 1],
  ])('%s', (_name, points, plan, coverage, order) => {
    const { quality } = planScores({ points, plan });
    expect(quality?.value).toBeCloseTo(coverage, 12);
    expect(quality?.details?.['order_score']).toBeCloseTo(order, 12);
    expect(quality?.passed).toBe(coverage >= 0.7);
  });

  test('points in words are for the judge; no points, no score; no plan reported: null', () => {
    expect(planScores({ points: ['lookup_order', 'apologise'], plan: ['lookup_order'] }).quality).toBeUndefined();
    expect(planScores({ points: [], plan: ['lookup_order'] }).quality).toBeUndefined();
    expect(planScores({ plan: null }).quality).toMatchObject({ value: null, passed: null });
  });
});

describe('plan_consistency', () => {
  const plan = ['lookup_order', 'refundOrder', '`notify`'];

  test.each<[string, MadeCall[], number]>([
    ['as planned', ['lookup_order', 'refundOrder', 'notify'], 1],
    ['retries in a row count once', ['lookup_order', 'lookup_order', 'refundOrder', 'notify'], 1],
    ['one left out: 2·2 ÷ (3 + 2)', ['lookup_order', 'refundOrder'], 0.8],
    ['two swapped: 2·2 ÷ (3 + 3)', ['refundOrder', 'lookup_order', 'notify'], 2 / 3],
    ['one more: 2·3 ÷ (3 + 4)', ['lookup_order', 'search', 'refundOrder', 'notify'], 6 / 7],
    ['nothing called', [], 0],
    [
      'calls of one turn have no order',
      [
        { tool: 'refundOrder', turn: 0 },
        { tool: 'lookup_order', turn: 0 },
        { tool: 'notify', turn: 1 },
      ],
      1,
    ],
  ])('%s', (_name, calls, value) => {
    const { consistency } = planScores({ plan, calls });
    expect(consistency?.value).toBeCloseTo(value, 12);
    expect(consistency?.passed).toBe(value >= 0.7);
    expect(consistency?.details?.['settled']).toBe(true);
  });

  test('lines in words: only what is planned by name counts, and only a failure is settled', () => {
    const wordy = ['find the order', 'refundOrder', 'write an answer'];
    const kept = planScores({ plan: wordy, calls: ['lookup_order', 'refundOrder'] }).consistency;
    expect(kept).toMatchObject({ value: 1, passed: true });
    expect(kept?.details?.['settled']).toBeUndefined();
    expect(planScores({ plan: wordy, calls: ['lookup_order'] }).consistency).toMatchObject({ value: 0, passed: false });
  });

  test('a plan in words is for the judge; none reported: null; not asked for: no score', () => {
    expect(planScores({ plan: ['find it', 'send it back'] }).consistency).toBeUndefined();
    expect(planScores({ plan: null }).consistency?.value).toBeNull();
    expect(planScores({ points: [], plan }).consistency).toBeUndefined();
    expect(planScores({ points: [], plan }, { dimension: 'plan_consistency' }).consistency).toMatchObject({
      value: 0,
      deciding: true,
    });
  });

  test('what was done is always in [0,1]; a plan of exactly the calls made is 1', () => {
    const name = fc.constantFrom('lookup_order', 'refundOrder', '`notify`', '`search`');
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 8 }), fc.array(name, { maxLength: 8 }), (lines, made) => {
        const calls = made.map((one) => one.replaceAll('`', ''));
        const value = planScores({ plan: lines, calls }).consistency?.value ?? Number.NaN;
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        const own = lines.map((one) => one.replaceAll('`', ''));
        expect(planScores({ plan: lines, calls: own }).consistency?.value).toBe(1);
      }),
    );
  });
});

test.each(['search ', 'search\t ', ' ', '1. '])('a plan that repeats %j is read in linear time', (unit) => {
  const named = toolNamer(['search', 'look_up']);
  const started = performance.now();
  named(`search${unit.repeat(100_000)}x`);
  named(`search${' '.repeat(100_000)}x`);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(named('  2) search  . ')).toEqual(['search']);
});
