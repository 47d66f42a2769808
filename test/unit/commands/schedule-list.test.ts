import { expect, test } from 'vitest';
import { rootMessage } from '../../../src/commands/last-firing.ts';
import { outcomeText } from '../../../src/commands/schedule-list.ts';

const last = { evaluation_id: 'ops-1', status: 'completed', exit_code: 0, verdict: 'Passed: 9 gates held.' };
const firing = { at: '2026-03-18T02:00:00.000Z', workflow_id: 'schedule/nightly-1', message: null };

test('a firing that failed says why, in place of a verdict', () => {
  const failed = { ...firing, status: 'failed', message: 'schedule nightly: suite.yaml is missing' };
  expect(outcomeText({ last: null, last_firing: failed })).toBe('failed: schedule nightly: suite.yaml is missing');
  expect(outcomeText({ last, last_firing: { ...failed, status: 'timed_out' } })).toMatch(/^timed out: /);
});

test('else the verdict stands there, or that nothing has picked it up', () => {
  expect(outcomeText({ last, last_firing: { ...firing, status: 'completed' } })).toBe('Passed: 9 gates held.');
  expect(outcomeText({ last: { ...last, verdict: null, status: 'running' }, last_firing: null })).toBe('running');
  expect(outcomeText({ last: null, last_firing: { ...firing, status: 'running' } })).toContain('waits for a worker');
  expect(outcomeText({ last: null, last_firing: null })).toBe('–');
});

test('the innermost message is the one that explains', () => {
  const inner = new Error('suite.yaml is missing');
  expect(
    rootMessage(new Error('Workflow execution failed', { cause: new Error('Activity task failed', { cause: inner }) })),
  ).toBe('suite.yaml is missing');
  expect(rootMessage(new Error('terminated', { cause: new Error('') }))).toBe('terminated');
});
