import { expect, test } from 'vitest';
import { finishTrial, type GivenUp } from '../../../src/activities/trial-step.ts';
import type { TrialStatus } from '../../../src/core/trial.ts';
import type { TrialEnd } from '../../../src/db/trial-rows.ts';
import type { TrialWriter } from '../../../src/db/trial-writer.ts';

/** A trial at its end, and what happens then, in order. */
function atItsEnd({
  failFast,
  budgeted = false,
  counted = true,
}: {
  failFast: boolean;
  budgeted?: boolean;
  counted?: boolean;
}) {
  const happened: string[] = [];
  const writer = {
    finish: (end: TrialEnd) => {
      happened.push(`stored ${end.status} as ${end.key.case_id} by ${end.fence}`);
      return Promise.resolve(true);
    },
  } as TrialWriter;
  const trial = {
    key: { evaluation_id: 'e', case_id: 'c', trial_index: 2 },
    claim: { fence: 7 },
    context: { failFast, budgeted },
    lane: counted ? { leave: () => void happened.push('left its lane') } : undefined,
  } as GivenUp;
  const end = (status: TrialStatus) =>
    finishTrial({ writer }, trial, { status } as Omit<TrialEnd, 'key' | 'fence'>, 'a tool was not called');
  return { happened, end };
}

test('the lane is left before the last write, so that the next trial begins meanwhile', async () => {
  const { happened, end } = atItsEnd({ failFast: false });
  expect(await end('failed')).toEqual({ n: 'done' });
  expect(happened).toEqual(['left its lane', 'stored failed as c by 7']);
});

test('with fail-fast a failed trial keeps its lane: nothing begins in its place', async () => {
  const { happened, end } = atItsEnd({ failFast: true });
  expect(await end('failed')).toEqual({
    n: 'done',
    stop: { kind: 'fail_fast', message: '--fail-fast: c trial 2 failed: a tool was not called' },
  });
  expect(happened).toEqual(['stored failed as c by 7']);
});

test.each(['passed', 'errored', 'unscored'] as const)('with fail-fast one that %s stops nothing', async (status) => {
  const { happened, end } = atItsEnd({ failFast: true });
  expect(await end(status)).toEqual({ n: 'done' });
  expect(happened[0]).toBe('left its lane');
});

test('where there is a budget the lane is kept until the money is stored', async () => {
  const { happened, end } = atItsEnd({ failFast: false, budgeted: true });
  expect(await end('passed')).toEqual({ n: 'done' });
  expect(happened).toEqual(['stored passed as c by 7']);
});

test('a trial the worker does not count has no lane to leave', async () => {
  const { happened, end } = atItsEnd({ failFast: false, counted: false });
  expect(await end('passed')).toEqual({ n: 'done' });
  expect(happened).toEqual(['stored passed as c by 7']);
});
