import { describe, expect, test } from 'vitest';
import { objectionTo } from '../../../src/commands/results/baseline.ts';
import { secondsLeft } from '../../../src/commands/stored/eta.ts';
import { nextCommands, type Status, statusText } from '../../../src/commands/results/status-text.ts';
import type { EvaluationRow } from '../../../src/db/evaluations.ts';

const progress = { planned: 100, passed: 30, failed: 5, unscored: 3, errored: 2, running: 4, recent: 30 };

function status(row: Partial<EvaluationRow>, more: Partial<Status> = {}): Status {
  const full = {
    id: 'e-1',
    suite: 'ops',
    cases: 50,
    agent_model: 'm',
    started_at: null,
    finished_at: null,
    stop_message: null,
    verdict: null,
    ...row,
  };
  return { row: full as EvaluationRow, progress, failing: [], ageMs: 60_000, temporal: 'up', ...more };
}

describe('time left', () => {
  test('at the pace of the last 30 s', () => expect(secondsLeft(progress, 600)).toBe(60));
  test('a younger evaluation is measured over its own age', () => expect(secondsLeft(progress, 10)).toBe(20));
  test('unknown while nothing ends', () => expect(secondsLeft({ ...progress, recent: 0 }, 600)).toBeNull());
  test('nothing left', () => expect(secondsLeft({ ...progress, passed: 90, recent: 0 }, 600)).toBe(0));
});

describe('status text', () => {
  test('running: counts and time left', () => {
    const text = statusText(status({ status: 'running' }));
    expect(text).toContain('e-1  running  (started 60 s ago)');
    expect(text).toContain('40 of 100 ended: 30 passed, 5 failed, 3 unscored, 2 errored, 4 running');
    expect(text).toContain('about 60 s');
  });
  test('trials that are tried again: how many, after what, what was said last; nothing of it moves the cursor', () => {
    const failing = [
      { kind: 'rate_limit', trials: 12, message: 'slow \u001b[2Jdown' },
      { kind: 'timeout', trials: 1, message: 'x'.repeat(900) },
    ];
    const text = statusText(status({ status: 'running' }, { failing }));
    expect(text).toContain('  failing   12 trials tried again after rate_limit: slow [2Jdown\n');
    expect(text).toMatch(/ {2}failing {3}1 trial tried again after timeout: x{300}…\n/);
  });
  test('what others wrote moves no cursor', () => {
    const row = {
      suite: 'a\u001b[2Jb',
      agent_model: 'm\u0007',
      stop_message: 'it said \u001b]0;x',
      verdict: 'V\u202e',
    };
    const text = statusText(status({ ...row, status: 'stopped', stop_kind: 'internal_error' }));
    // oxlint-disable-next-line no-control-regex
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(text).toContain('stopped   it said ]0;x');
  });
  test('running, but nothing works on it', () => {
    const text = statusText(status({ status: 'running' }, { temporal: null }));
    expect(text).toContain('Nothing works on it: ');
    expect(text).toContain('assay resume e-1    go on with what is missing');
  });
  test('finished: how long it took', () => {
    const times = { started_at: new Date(1_000), finished_at: new Date(201_000) };
    const text = statusText(status({ status: 'completed', cases: 1, ...times }));
    expect(text).toContain('(started 60 s ago, took 3 min 20 s)');
    expect(text).toContain('ops: 1 case, agent m');
  });
  test('long verdicts are wrapped under themselves', () => {
    const verdict = 'Incomplete: too many trials have no verdict (unscored_share); inconclusive: tool_score, budget.';
    const lines = statusText(status({ status: 'completed', verdict, exit_code: 3 }), 60).split('\n');
    const at = lines.findIndex((line) => line.startsWith('  verdict   Incomplete'));
    expect(lines[at + 1]).toMatch(/^ {12}\S/);
    for (const line of lines.slice(at, at + 3)) expect(line.length).toBeLessThanOrEqual(60);
  });
  test('stopped: why, and how to go on', () => {
    const stop = { status: 'stopped', stop_kind: 'budget', stop_message: 'the budget is spent' } as const;
    const text = statusText(status(stop));
    expect(text).toContain('stopped   the budget is spent');
    expect(text).toContain('assay resume e-1 --budget-usd MORE');
  });
  test('every state says how to go on', () => {
    const first = (row: Partial<EvaluationRow>): string | undefined => nextCommands(status(row))[0]?.command;
    expect(first({ status: 'paused' })).toBe('assay unpause e-1');
    expect(first({ status: 'canceled', stop_kind: null })).toBe('assay resume e-1');
    expect(nextCommands(status({ status: 'completed' })).map((one) => one.command)).toContain('assay retry e-1');
  });
});

describe('what may be a baseline', () => {
  const row = { status: 'completed', planned_trials: 100, failures_rerun: 0 } as const;
  test('complete with coverage', () => expect(objectionTo(row, 98)).toBeNull());
  test('too few verdicts', () => expect(objectionTo(row, 97)).toContain('only 97 of its 100 trials'));
  test('not completed', () => expect(objectionTo({ ...row, status: 'canceled' }, 100)).toContain('canceled'));
  test('failures that were run again', () =>
    expect(objectionTo({ ...row, failures_rerun: 2 }, 100)).toContain('2 of its failed trials were run again'));
  test('no result', () => expect(objectionTo(row, null)).toContain('no result'));
});
