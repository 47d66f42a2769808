import { describe, expect, it } from 'vitest';
import { matchRule } from '../../../src/scripted-model/match.ts';
import { parseScript } from '../../../src/scripted-model/read-script.ts';
import { viewRequest } from '../../../src/scripted-model/request-view.ts';
import type { RequestView } from '../../../src/scripted-model/request-view.ts';
import { calls, offered, tool, user, view } from './view.ts';

const matches = (when: string, request: RequestView): boolean =>
  matchRule(parseScript(`rules: [{ when: ${when}, reply: { content: x } }]`, 's.yaml'), request) !== null;

const dialogue = view(
  [
    { role: 'system', content: 'You are terse.' },
    { role: 'developer', content: 'Use tools.' },
    user('first question'),
    calls(['a', 'search']),
    tool('a', 'old result'),
    user([
      { type: 'text', text: 'refund order ' },
      { type: 'text', text: '88' },
    ] as never),
    calls(['b', 'get_order'], ['c', 'notify']),
    tool('b', 'order 88 found'),
    tool('c', 'notified'),
  ],
  { seed: 8, ...offered('get_order', 'notify') },
);

describe('matchRule', () => {
  it.each([
    ['{}', true],
    ['{ model: m }', true],
    ['{ model: n }', false],
    ['{ user_contains: refund order 88 }', true],
    ['{ user_contains: first }', false],
    ['{ user_contains: [refund, "88"] }', true],
    ['{ user_contains: [refund, "89"] }', false],
    ['{ user_matches: "^refund order \\\\d+$" }', true],
    ['{ user_matches: "^order" }', false],
    ['{ system_contains: terse }', true],
    ['{ system_contains: [terse, tools] }', true],
    ['{ system_contains: refund }', false],
    ['{ contains: [terse, first, old result, refund] }', true],
    ['{ contains: absent }', false],
    ['{ after_tool: notify }', true],
    ['{ after_tool: get_order }', false],
    ['{ last_tool_contains: [order 88 found, notified] }', true],
    ['{ last_tool_contains: old result }', false],
    ['{ has_tool: notify }', true],
    ['{ has_tool: search }', false],
    ['{ no_tools: true }', false],
    ['{ no_tools: false }', true],
    ['{ turn: 2 }', true],
    ['{ turn: 0 }', false],
    ['{ seed: 8 }', true],
    ['{ seed: [7, 8] }', true],
    ['{ seed: 7 }', false],
    ['{ user_contains: refund, turn: 0 }', false],
  ])('%s holds: %s', (when, expected) => {
    expect(matches(when, dialogue)).toBe(expected);
  });

  it('the first rule whose conditions hold answers; then the default; then nothing', () => {
    const script = parseScript(
      `
rules:
  - { name: a, when: { user_contains: x }, reply: { content: a } }
  - { name: b, when: { user_contains: xy }, reply: { content: b } }
default: { reply: { content: d } }`,
      's.yaml',
    );
    expect(matchRule(script, view([user('xy')]))?.rule.name).toBe('a');
    expect(matchRule(script, view([user('z')]))?.rule.name).toBe('default');
    expect(matchRule({ ...script, fallback: null }, view([user('z')]))).toBeNull();
  });

  it('T10: results of calls with equal or empty ids are told apart by position', () => {
    for (const id of ['', 'same']) {
      const both = [calls([id, 'first'], [id, 'second']), tool(id, '1'), tool(id, '2')];
      expect(view(both).afterTool).toBe('second');
      expect(view(both.slice(0, 2)).afterTool).toBe('first');
    }
  });

  it('T7: a request with malformed messages, tools and calls is read, not refused', () => {
    const odd = viewRequest({
      messages: ['oops', null, { role: 'assistant', tool_calls: [null, 'x', { function: null }] }, tool('q', 'r')],
      tools: ['x', { function: { name: 7 } }],
    } as never);
    expect(odd).toMatchObject({ model: '', tools: [], turn: 1, afterTool: null, lastTool: 'r', lastUser: '' });
  });

  it('D10: a regular expression that backtracks elsewhere takes linear time', () => {
    const started = performance.now();
    expect(matches('{ user_matches: "(a+)+$" }', view([user(`${'a'.repeat(50_000)}b`)]))).toBe(false);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
