import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptSegment } from '../../../../src/core/trajectory.ts';
import { diffSegments } from '../../../../src/scorers/prompt-assembly/diff-segments.ts';

const segments = (...pairs: [string, string][]): PromptSegment[] => pairs.map(([name, text]) => ({ name, text }));
const OLD = segments(['base', 'b'], ['topic', 't'], ['max_steps', '6']);

describe('diffSegments', () => {
  test('added, removed and changed, each with both texts', () => {
    expect(diffSegments(OLD, segments(['base', 'B'], ['user_profile', 'u'], ['max_steps', '6']))).toEqual([
      { name: 'base', change: 'changed', before: 'b', after: 'B' },
      { name: 'user_profile', change: 'added', before: null, after: 'u' },
      { name: 'topic', change: 'removed', before: 't', after: null },
    ]);
  });

  test('one moved segment is one change', () => {
    expect(diffSegments(OLD, segments(['max_steps', '6'], ['base', 'b'], ['topic', 't']))).toEqual([
      { name: 'max_steps', change: 'moved', before: '6', after: '6' },
    ]);
  });

  test('a second segment of one name is a segment of its own', () => {
    expect(diffSegments(OLD, [...OLD, { name: 'base', text: 'b' }])).toEqual([
      { name: 'base', change: 'added', before: null, after: 'b' },
    ]);
  });

  const prompt = fc.array(
    fc.record({ name: fc.constantFrom('base', 'topic', 'x', 'y'), text: fc.constantFrom('1', '2') }),
    { maxLength: 6 },
  );
  test('law: no change exactly where the prompts are equal', () => {
    fc.assert(
      fc.property(prompt, prompt, (before, after) => {
        const same = JSON.stringify(before) === JSON.stringify(after);
        return (diffSegments(before, after).length === 0) === same;
      }),
    );
  });

  test('law: as many are added as are removed the other way round', () => {
    fc.assert(
      fc.property(prompt, prompt, (before, after) => {
        const count = (changes: ReturnType<typeof diffSegments>, kind: string): number =>
          changes.filter(({ change }) => change === kind).length;
        const [there, back] = [diffSegments(before, after), diffSegments(after, before)];
        return count(there, 'added') === count(back, 'removed') && count(there, 'changed') === count(back, 'changed');
      }),
    );
  });
});
