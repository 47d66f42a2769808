import { expect, test } from 'vitest';
import { displayWidth } from '../../../src/report/align.ts';
import { rootMessage } from '../../../src/commands/schedule/last-firing.ts';
import { outcomeText, scheduleTable } from '../../../src/commands/schedule/schedule-list.ts';

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

test('the list of schedules fits a terminal of 80 columns: the verdict is cut, then columns go', () => {
  const lines = scheduleTable(
    [
      {
        schedule: 'nightly',
        suite: 'energy',
        suite_path: '/suites/energy.yaml',
        cron: '0 2 * * *',
        timezone: 'Asia/Shanghai',
        paused: false,
        note: null,
        next: ['2026-03-19T02:00:00.000Z'],
        last_firing: { ...firing, status: 'failed', message: 'schedule nightly: /suites/energy.yaml is missing' },
        last: { ...last, evaluation_id: 'energy-20261129-233457-1821df' },
      },
    ],
    80,
  );
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^schedule .*next +last evaluation +verdict$/);
  expect(lines[1]).toContain('failed: schedule');
});
