import {
  CancellationScope,
  type ChildWorkflowHandle,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { createActivities } from '../activities/index.ts';
import type { Plan } from '../activities/contract.ts';
import type { Stop } from '../core/evaluation.ts';
import { setLanes, setPaused, shard } from './shard.ts';

type Activities = ReturnType<typeof createActivities>;

export interface EvaluationInput {
  evaluationId: string;
}

export const pause = defineSignal<[boolean]>('pause');
export const setConcurrency = defineSignal<[number]>('setConcurrency');

const RETRY = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' } as const;
const steps = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes', retry: RETRY });
const aggregation = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: RETRY,
});
/** Rounds over shards that left trials missing before the evaluation ends as it is. */
const ROUNDS = 5;

/** One evaluation from its rows to its verdict: shards, aggregation, baseline comparison, gates. */
export async function evaluation(input: EvaluationInput): Promise<void> {
  const control: Control = { paused: null, concurrency: null, changed: 0 };
  setHandler(pause, (paused) => {
    control.paused = paused;
    control.changed += 1;
  });
  setHandler(setConcurrency, (concurrency) => {
    control.concurrency = concurrency;
    control.changed += 1;
  });
  let stop: Stop | null = null;
  let canceled = false;
  try {
    stop = await runRounds(input, control);
    canceled = stop?.kind === 'canceled';
  } catch (error) {
    if (!isCancellation(error)) throw error;
    canceled = true;
  }
  await CancellationScope.nonCancellable(() => finish(input, canceled ? null : stop, canceled));
}

interface Control {
  paused: boolean | null;
  concurrency: number | null;
  changed: number;
}

async function runRounds(input: EvaluationInput, control: Control): Promise<Stop | null> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const plan = await steps.prepare(input);
    setCurrentDetails(plan.title);
    if (plan.shards.length === 0) return null;
    if (round > 0) await sleep(Math.min(60_000, 2_000 * 2 ** round));
    const stop = await runShards(input, plan, control);
    if (stop !== null) return stop;
  }
  return { kind: 'no_progress', message: 'trials kept failing without an answer of their own; see the worker log' };
}

/** A sliding window of shards; lanes of ended shards go to those still running. */
async function runShards(input: EvaluationInput, plan: Plan, control: Control): Promise<Stop | null> {
  const queue = [...plan.shards];
  const running = new Map<number, ChildWorkflowHandle<typeof shard>>();
  const outcome: Outcome = { stop: null, error: null, drain: false };
  const scope = new CancellationScope();
  const settings = (): { lanes: number; paused: boolean } => {
    const concurrency = control.concurrency ?? plan.concurrency;
    const open = Math.min(plan.window, concurrency, running.size + queue.length);
    return { lanes: Math.max(1, Math.ceil(concurrency / Math.max(1, open))), paused: control.paused ?? plan.paused };
  };
  const follow = async (number: number, handle: ChildWorkflowHandle<typeof shard>): Promise<void> => {
    await handle
      .result()
      .then((result) => void (outcome.stop ??= result.stop))
      // A shard terminated from outside leaves its trials missing: the next round finds them.
      .catch((error: unknown) => void (outcome.error ??= isCancellation(error) ? error : null));
    running.delete(number);
    if (queue.length === 0) control.changed += 1;
    if (outcome.stop !== null) scope.cancel();
  };
  const followers: Promise<void>[] = [];
  const goesOn = (): boolean => outcome.stop === null && outcome.error === null;
  const startNext = async (): Promise<void> => {
    while (!outcome.drain && goesOn() && queue.length > 0 && running.size < windowOf(plan, control)) {
      const lanes = settings();
      const number = queue.shift() as number;
      const handle = await startShard(input, plan, number, lanes);
      running.set(number, handle);
      followers.push(follow(number, handle));
    }
  };
  await scope
    .run(async () => {
      while (goesOn() && (queue.length > 0 || running.size > 0)) {
        // Children do not carry over to the next run: no new ones, and wait for those there are.
        outcome.drain ||= workflowInfo().continueAsNewSuggested;
        await startNext();
        if (outcome.drain && running.size === 0) break;
        const seen = { changes: control.changed, size: running.size };
        await condition(() => control.changed !== seen.changes || running.size !== seen.size || !goesOn());
        if (control.changed !== seen.changes && goesOn()) await tellShards(running, settings());
      }
    })
    .catch((error: unknown) => void (outcome.error ??= error));
  // Shards come to rest before anything is aggregated, also when the evaluation was canceled.
  await Promise.all(followers);
  if (outcome.stop !== null) return outcome.stop;
  if (outcome.error !== null) throw outcome.error;
  if (outcome.drain && queue.length > 0) await continueAsNew<typeof evaluation>(input);
  return null;
}

interface Outcome {
  stop: Stop | null;
  error: unknown;
  drain: boolean;
}

function windowOf(plan: Plan, control: Control): number {
  return Math.min(plan.window, control.concurrency ?? plan.concurrency);
}

async function tellShards(
  running: Map<number, ChildWorkflowHandle<typeof shard>>,
  settings: { lanes: number; paused: boolean },
): Promise<void> {
  for (const handle of running.values()) {
    await handle.signal(setPaused, settings.paused).catch(ignoreEnded);
    await handle.signal(setLanes, settings.lanes).catch(ignoreEnded);
  }
}

/** A shard may end while a signal to it is on its way. */
function ignoreEnded(error: unknown): void {
  if (isCancellation(error)) throw error;
}

async function startShard(
  input: EvaluationInput,
  plan: Plan,
  number: number,
  control: { lanes: number; paused: boolean },
): Promise<ChildWorkflowHandle<typeof shard>> {
  const from = number * plan.shardSize;
  const options = {
    workflowId: `evaluation/${input.evaluationId}/shard/${number}`,
    args: [
      {
        evaluationId: input.evaluationId,
        revision: plan.revision,
        from,
        to: from + plan.shardSize,
        settings: plan.settings,
        ...control,
      },
    ] as [Parameters<typeof shard>[0]],
    staticSummary: `trials ${from + 1} to ${from + plan.shardSize}`,
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await startChild(shard, options);
    } catch (error) {
      // The shard of a run that was just terminated may take a moment to go.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || attempt >= 30) throw error;
      await sleep('1 second');
    }
  }
}

async function finish(input: EvaluationInput, stop: Stop | null, canceled: boolean): Promise<void> {
  await aggregation.aggregate(input);
  await aggregation.compareBaseline(input);
  await steps.endEvaluation({ ...input, stop, canceled });
}
