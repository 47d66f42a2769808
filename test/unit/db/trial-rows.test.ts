import { expect, test } from 'vitest';
import { trajectoryColumns } from '../../../src/db/trial-rows.ts';
import { trajectory } from '../scorers/fixtures.ts';

test('the latency of a trajectory without times, as recorded messages give it, is not known: it is not 0', () => {
  const times = (start: number, end: number): unknown =>
    trajectoryColumns(trajectory([], { started_at_ms: start, ended_at_ms: end, approval_wait_ms: 50 }))['latency_ms'];
  expect(times(0, 0)).toBeNull();
  expect(times(0, 1_050.4)).toBe(1_000);
  expect(times(1_000, 1_020)).toBe(0);
});
