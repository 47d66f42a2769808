import type { PromptSegment, SegmentChange } from '../../core/trajectory.ts';
import { firstLongestCommonSubsequence } from '../tool-calls/lcs.ts';

/**
 * Snapshot difference of two assembled prompts, segment by segment: in the order of the second, then what is gone. Segments
 * are told apart by name, those of one name by their order. `moved`: equal text at another place among those that both have.
 */
export function diffSegments(before: readonly PromptSegment[], after: readonly PromptSegment[]): SegmentChange[] {
  const [old, now] = [keyed(before), keyed(after)];
  // What is not in a longest common order of both is what was moved.
  const kept = [...old.keys()].filter((key) => now.has(key));
  const pairs = firstLongestCommonSubsequence(
    kept,
    [...now.keys()].filter((key) => old.has(key)),
  );
  const stayed = new Set(pairs.map(([at]) => kept[at]));
  const changes: SegmentChange[] = [];
  for (const [key, { name, text }] of now) {
    const was = old.get(key);
    if (was === undefined) changes.push({ name, change: 'added', before: null, after: text });
    else if (was.text !== text) changes.push({ name, change: 'changed', before: was.text, after: text });
    else if (!stayed.has(key)) changes.push({ name, change: 'moved', before: text, after: text });
  }
  for (const [key, { name, text }] of old) {
    if (!now.has(key)) changes.push({ name, change: 'removed', before: text, after: null });
  }
  return changes;
}

/** Name and, from the second of a name on, its number. */
function keyed(segments: readonly PromptSegment[]): Map<string, PromptSegment> {
  const counts = new Map<string, number>();
  return new Map(
    segments.map((segment) => {
      const number = (counts.get(segment.name) ?? 0) + 1;
      counts.set(segment.name, number);
      return [JSON.stringify([segment.name, number]), segment];
    }),
  );
}
