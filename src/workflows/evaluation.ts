import {
  ActivityFailure,
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
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { createActivities } from '../activities/index.ts';
import type { Plan } from '../activities/contract.ts';
import type { Stop } from '../core/evaluation.ts';
import { setLanes, setPaused, shard } from './shard.ts';

type Activities = ReturnType<typeof createActivities>;

export interface EvaluationInput {
  evaluationId: string;
}

const pause = defineSignal<[boolean]>('pause');
const setConcurrency = defineSignal<[number]>('setConcurrency');

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
  for (;;) {
    const end = await runToEnd(input, control);
    const status = await CancellationScope.nonCancellable(() => finish(input, end));
    // Resumed or retried while this run came to its end: there is more to do. A canceled run cannot do it.
    if (status !== 'superseded' || end.canceled) return;
  }
}

interface End {
  stop: Stop | null;
  canceled: boolean;
  revision: number;
}

async function runToEnd(input: EvaluationInput, control: Control): Promise<End> {
  const seen = { revision: 0 };
  try {
    const stop = await runRounds(input, control, seen);
    const canceled = stop?.kind === 'canceled';
    return { stop: canceled ? null : stop, canceled, revision: seen.revision };
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return { stop: null, canceled: true, revision: seen.revision };
  }
}

interface Control {
  paused: boolean | null;
  concurrency: number | null;
  changed: number;
}

async function runRounds(input: EvaluationInput, control: Control, seen: { revision: number }): Promise<Stop | null> {
  for (let round = 0; round < ROUNDS; round += 1) {
    // Ends are stored for a revision: a cancellation waits until it is known.
    const plan = await CancellationScope.nonCancellable(() => steps.prepare(input));
    seen.revision = plan.revision;
    if (round === 0) describe(plan, 'running');
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
  const running: Running = new Map();
  const outcome: Outcome = { stop: null, error: null, drain: false };
  const scope = new CancellationScope();
  const concurrency = (): number => control.concurrency ?? plan.concurrency;
  const paused = (): boolean => control.paused ?? plan.paused;
  const follow = async (number: number, handle: ChildWorkflowHandle<typeof shard>): Promise<void> => {
    await handle
      .result()
      .then((result) => void (outcome.stop ??= result.stop))
      // A shard terminated from outside leaves its trials missing: the next round finds them.
      .catch((error: unknown) => void (outcome.error ??= isCancellation(error) ? error : null));
    running.delete(number);
    if (outcome.stop !== null) scope.cancel();
  };
  const followers: Promise<void>[] = [];
  const goesOn = (): boolean => outcome.stop === null && outcome.error === null;
  const startNext = async (): Promise<void> => {
    for (;;) {
      const window = Math.min(plan.window, concurrency());
      if (outcome.drain || !goesOn() || queue.length === 0 || running.size >= window) return;
      const places = Math.min(window, running.size + queue.length) - running.size;
      const told = { lanes: Math.ceil(Math.max(0, concurrency() - lanesGiven(running)) / places), paused: paused() };
      const number = queue.shift() as number;
      const handle = await startShard(input, plan, number, told);
      running.set(number, { handle, ...told });
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
        await tellShards(running, concurrency(), paused());
        await condition(() => control.changed !== seen.changes || running.size !== seen.size || !goesOn());
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

/** Shards under way, by number, with what they were told last. */
type Running = Map<number, { handle: ChildWorkflowHandle<typeof shard>; lanes: number; paused: boolean }>;

function lanesGiven(running: Running): number {
  return [...running.values()].reduce((sum, { lanes }) => sum + lanes, 0);
}

/** Gives the running shards their share of the lanes, which add up to the concurrency exactly, and the pause. */
async function tellShards(running: Running, concurrency: number, paused: boolean): Promise<void> {
  const shards = [...running.values()];
  const idle = shards.some(({ lanes }) => lanes === 0) && shards.length <= concurrency;
  const share = lanesGiven(running) !== concurrency || idle;
  for (const [order, one] of shards.entries()) {
    const part = Math.floor(concurrency / shards.length) + (order < concurrency % shards.length ? 1 : 0);
    if (one.paused !== paused) await one.handle.signal(setPaused, paused).catch(ignoreEnded);
    if (share && one.lanes !== part) await one.handle.signal(setLanes, part).catch(ignoreEnded);
    one.paused = paused;
    if (share) one.lanes = part;
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

/** Numbers, comparison, gates, status. An error of ours ends the evaluation as stopped, never in an endless retry. */
async function finish(input: EvaluationInput, end: End): Promise<string> {
  let status: string;
  try {
    await aggregation.aggregate(input);
    await aggregation.compareBaseline(input);
    status = await steps.endEvaluation({ ...input, ...end });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    status = await steps.failEvaluation({ ...input, ...end, message: error.cause?.message ?? error.message });
  }
  if (status !== 'superseded') upsertSearchAttributes([{ key: ATTRIBUTES.status, value: status }]);
  return status;
}

const ATTRIBUTES = {
  suite: defineSearchAttributeKey('AssaySuite', 'KEYWORD'),
  kind: defineSearchAttributeKey('AssayKind', 'KEYWORD'),
  status: defineSearchAttributeKey('AssayStatus', 'KEYWORD'),
  label: defineSearchAttributeKey('AssayLabel', 'KEYWORD'),
};

/** Makes the evaluation findable in Temporal, whoever started it. */
function describe(plan: Plan, status: string): void {
  const { suite, kind, label } = plan.attributes;
  upsertSearchAttributes([
    { key: ATTRIBUTES.suite, value: suite },
    { key: ATTRIBUTES.kind, value: kind },
    { key: ATTRIBUTES.status, value: status },
    ...(label === null ? [] : [{ key: ATTRIBUTES.label, value: label }]),
  ]);
}
