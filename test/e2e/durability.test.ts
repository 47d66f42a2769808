import { expect, test } from 'vitest';
import { durabilityTests } from './support/durability.ts';
import { timeless } from './support/outcome.ts';

durabilityTests('embedded stack');

test('timeless leaves times out and nothing else', () => {
  expect(
    timeless({ latency_ms: 3, value: 1, list: [{ metric: 'mean_latency_ms' }, { metric: 'tool_score' }] }),
  ).toEqual({
    value: 1,
    list: [{ metric: 'tool_score' }],
  });
});
