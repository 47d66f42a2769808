import { describe, expect, test } from 'vitest';
import type { EvalCase, Expected } from '../../../../src/core/case.ts';
import type { Score } from '../../../../src/core/score.ts';
import { PROMPT_SEGMENTS, type PromptSegment, type Trajectory } from '../../../../src/core/trajectory.ts';
import { scoresOf, trajectory } from '../fixtures.ts';

const TEXT = (name: string): PromptSegment => ({ name, text: `the text of segment ${name}` });
const EIGHT = PROMPT_SEGMENTS.map(TEXT);
const without = (name: string): PromptSegment[] => EIGHT.filter((segment) => segment.name !== name);
const sent = (segments: readonly PromptSegment[]): Trajectory['messages'] => [
  { role: 'system', content: segments.map(({ text }) => text).join('\n\n') },
];

function score(run: Partial<Trajectory>, expected: Expected = {}, fields: Partial<EvalCase> = {}): Score | undefined {
  const evalCase = { dimension: 'prompt_assembly', ...fields };
  return scoresOf(expected, trajectory([], run), { evalCase })['prompt_assembly'];
}

function rules(segments: PromptSegment[], expected: Expected = {}): unknown {
  const found = score({ prompt_segments: segments, messages: sent(segments) }, expected);
  return ((found?.details?.['faults'] ?? []) as { rule: string; segment: string }[]).map(({ rule, segment }) => [
    rule,
    segment,
  ]);
}

test('eight segments, in order, once each, as sent', () => {
  expect(score({ prompt_segments: EIGHT, messages: sent(EIGHT) })).toMatchObject({
    value: 1,
    passed: true,
    deciding: true,
    violation: false,
  });
});

describe('every one of the eight', () => {
  test.each(PROMPT_SEGMENTS)('%s: missing, empty, twice', (name) => {
    expect(rules(without(name))).toEqual([['missing', name]]);
    expect(rules(EIGHT.map((segment) => (segment.name === name ? { name, text: ' \n' } : segment)))).toEqual([
      ['empty', name],
    ]);
    expect(rules([...EIGHT, TEXT(name)])).toEqual([['twice', name]]);
  });

  test.each(PROMPT_SEGMENTS.slice(1))('%s: before the one it follows', (name) => {
    const at = PROMPT_SEGMENTS.indexOf(name);
    const swapped = EIGHT.toSpliced(at - 1, 2, TEXT(name), TEXT(PROMPT_SEGMENTS[at - 1] ?? ''));
    expect(rules(swapped)).toEqual([['order', name]]);
  });
});

test('segments of the agent’s own between them are no fault', () => {
  expect(rules(EIGHT.toSpliced(3, 0, TEXT('house_rules')))).toEqual([]);
});

test('a segment whose source is empty may be empty or missing; said otherwise it may not', () => {
  const expected = { prompt_segments: ['base', { name: 'topic', empty: true }, 'max_steps'] };
  expect(rules([TEXT('base'), TEXT('max_steps')], expected)).toEqual([]);
  expect(rules([TEXT('base'), { name: 'topic', text: '' }, TEXT('max_steps')], expected)).toEqual([]);
  expect(rules([TEXT('base'), { name: 'topic', text: '' }, TEXT('max_steps')], { prompt_segments: ['topic'] })).toEqual(
    [['empty', 'topic']],
  );
});

test('contents a segment must hold', () => {
  const expected = { prompt_segments: [{ name: 'max_steps', contains: ['６', 'steps'] }] };
  expect(rules([{ name: 'max_steps', text: 'at most 6 steps' }], expected)).toEqual([]);
  expect(rules([{ name: 'max_steps', text: 'at most 7 steps' }], expected)).toEqual([['content', 'max_steps']]);
});

describe('recorded against sent', () => {
  test('a recorded segment that was not sent', () => {
    const found = score({ prompt_segments: EIGHT, messages: sent(without('topic')) });
    expect(found).toMatchObject({ value: 0, passed: false });
    expect(found?.reason).toBe('segment `topic` is not in the prompt that was sent');
  });

  test('sent in another order, or twice', () => {
    expect(score({ prompt_segments: EIGHT, messages: sent(EIGHT.toReversed()) })?.reason).toContain(
      'is not sent in the recorded order',
    );
    expect(score({ prompt_segments: EIGHT, messages: sent([...EIGHT, TEXT('base')]) })?.reason).toBe(
      'segment `base` was sent 2 times',
    );
  });

  test('without a recorded system prompt the segments alone are judged', () => {
    expect(score({ prompt_segments: EIGHT, messages: [{ role: 'user', content: 'hi' }] })?.passed).toBe(true);
  });
});

test('an agent that records none is judged by the case’s segments; what it records wins', () => {
  const context = { prompt_segments: without('topic') };
  expect(score({}, {}, { context })).toMatchObject({ value: 0, details: { source: 'case' } });
  expect(score({ prompt_segments: EIGHT }, {}, { context })).toMatchObject({ value: 1, details: { source: 'agent' } });
  expect(score({ prompt_segments: null }, {}, { context })?.reason).toBe('segment `topic` is missing');
});

test('neither recorded nor given: null, never a pass', () => {
  expect(score({})).toMatchObject({ value: null, passed: null, deciding: true });
});

test('a segment of invisible characters is empty', () => {
  const segments = EIGHT.map((segment) =>
    segment.name === 'topic' ? { name: 'topic', text: '\u200b \ufeff' } : segment,
  );
  expect(score({ prompt_segments: segments })?.reason).toBe('segment `topic` is empty');
});

test('cases about something else have no score, unless they say what they expect; then it decides', () => {
  const other = { dimension: 'rag_recall' };
  expect(score({ prompt_segments: without('topic') }, {}, other)).toBeUndefined();
  expect(score({ prompt_segments: without('topic') }, { prompt_segments: ['topic'] }, other)).toMatchObject({
    passed: false,
    deciding: true,
  });
});
