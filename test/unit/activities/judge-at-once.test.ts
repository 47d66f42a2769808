import { expect, test } from 'vitest';
import type { TrialStepInput, TrialStepResult } from '../../../src/activities/contract.ts';
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { createHandOver, type HandedOver } from '../../../src/activities/hand-over.ts';
import { judgeAtOnce } from '../../../src/activities/judge-at-once.ts';

const TRIAL: TrialStepInput = { evaluationId: 'e', revision: 1, position: 0, trialIndex: 1 };

function steps(
  next: TrialStepResult,
  options: { hands: boolean; queues: [string, string]; judge?: () => TrialStepResult },
) {
  const handOver = createHandOver();
  const called: string[] = [];
  const config = { agentTaskQueue: options.queues[0], judgeTaskQueue: options.queues[1] } as ActivityDeps['config'];
  const runAgent = (input: TrialStepInput): Promise<TrialStepResult> => {
    called.push('agent');
    if (options.hands) handOver.put(input, {} as HandedOver);
    return Promise.resolve(next);
  };
  const judgeTrial = async (): Promise<TrialStepResult> => {
    called.push('judge');
    return options.judge?.() ?? { n: 'done' };
  };
  return { called, run: judgeAtOnce({ config }, { runAgent, judgeTrial }, handOver) };
}

test('where one queue serves both, the judge follows in the same activity', async () => {
  const { run, called } = steps({ n: 'judge' }, { hands: true, queues: ['q', 'q'] });
  expect(await run(TRIAL)).toEqual({ n: 'done' });
  expect(called).toEqual(['agent', 'judge']);
});

test('with a queue of its own the judge is a step of its own', async () => {
  const { run, called } = steps({ n: 'judge' }, { hands: true, queues: ['q', 'judges'] });
  expect(await run(TRIAL)).toEqual({ n: 'judge' });
  expect(called).toEqual(['agent']);
});

test('a trajectory of an earlier attempt is left to a step of its own', async () => {
  const { run, called } = steps({ n: 'judge' }, { hands: false, queues: ['q', 'q'] });
  expect(await run(TRIAL)).toEqual({ n: 'judge' });
  expect(called).toEqual(['agent']);
});

test('isolation, and a trial that has ended, go their own way', async () => {
  for (const next of [{ n: 'isolation' }, { n: 'done' }] as const) {
    const { run, called } = steps(next, { hands: true, queues: ['q', 'q'] });
    expect(await run(TRIAL)).toEqual(next);
    expect(called).toEqual(['agent']);
  }
});

test('what the judge throws is thrown, for the retry rules to act on', async () => {
  const failure = new Error('rate limit');
  const judge = (): never => {
    throw failure;
  };
  const { run } = steps({ n: 'judge' }, { hands: true, queues: ['q', 'q'], judge });
  await expect(run(TRIAL)).rejects.toBe(failure);
});
