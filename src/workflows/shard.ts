import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { createActivities } from '../activities/index.ts';
import type { ShardRange, StepSettings, TrialStepInput } from '../activities/contract.ts';
import type { Stop } from '../core/evaluation.ts';
import { CANCEL_FAILURE, INTERNAL_FAILURE, STOP_FAILURE } from '../core/failure-types.ts';
import { createLookAhead, type LookAhead } from './look-ahead.ts';

type Activities = ReturnType<typeof createActivities>;

export interface ShardInput extends ShardRange {
  revision: number;
  lanes: number;
  paused: boolean;
  settings: StepSettings;
}

export interface ShardResult {
  /** Set when the evaluation must stop. */
  stop: Stop | null;
  /** Trials this shard could not bring to an end. */
  missing: number;
}

export const setPaused = defineSignal<[boolean]>('setPaused');
export const setLanes = defineSignal<[number]>('setLanes');

/** Passes over the missing trials without one of them ending before the shard gives up. */
const FRUITLESS_PASSES = 10;

/**
 * Runs the missing trials of a range in bounded lanes. It starts from what Postgres lacks, so a first run, a resume
 * and a reset are one path. One bad trial never fails it: the activities turn exhausted retries into rows.
 */
export async function shard(input: ShardInput): Promise<ShardResult> {
  const lookAhead = createLookAhead(input.settings.lookAhead ?? 0);
  const state: LaneState = { lanes: input.lanes, paused: input.paused, stop: null, lookAhead };
  setHandler(setPaused, (paused) => void (state.paused = paused));
  setHandler(setLanes, (lanes) => void (state.lanes = lanes));
  const { loadMissing } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute', retry: RETRY });
  const runTrial = trialRunner(input.settings, lookAhead);

  let last = Number.POSITIVE_INFINITY;
  for (let fruitless = 0; ;) {
    const missing = await loadMissing({ evaluationId: input.evaluationId, from: input.from, to: input.to });
    if (missing.length === 0) return { stop: null, missing: 0 };
    fruitless = missing.length < last ? 0 : fruitless + 1;
    if (fruitless >= FRUITLESS_PASSES) return { stop: null, missing: missing.length };
    if (fruitless > 0) await sleep(Math.min(30_000, 1_000 * 2 ** fruitless));
    last = missing.length;
    const trials = missing.map(([position, trialIndex]) => ({
      evaluationId: input.evaluationId,
      revision: input.revision,
      position,
      trialIndex,
    }));
    await runLanes(trials, state, runTrial);
    if (state.stop !== null) return { stop: state.stop, missing: -1 };
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof shard>({ ...input, lanes: state.lanes, paused: state.paused });
    }
  }
}

const RETRY = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' } as const;

interface LaneState {
  lanes: number;
  paused: boolean;
  stop: Stop | null;
  lookAhead: LookAhead;
}

/** Lanes take the next trial until none is left; the number of lanes may change while they run. */
async function runLanes(
  trials: TrialStepInput[],
  state: LaneState,
  runTrial: (trial: TrialStepInput) => Promise<Stop | 'later' | null>,
): Promise<void> {
  const scope = new CancellationScope();
  const failure: { error: unknown } = { error: null };
  let next = 0;
  let active = 0;
  const open = (): boolean => next < trials.length && state.stop === null && failure.error === null;
  const places = (): number => state.lanes + state.lookAhead.extra(state.lanes);
  const lane = async (): Promise<void> => {
    while (open() && active <= places()) {
      if (state.paused) {
        await condition(() => !state.paused || !open());
        continue;
      }
      const trial = open() ? trials[next++] : undefined;
      if (trial === undefined) return;
      // Once nothing is handed out early any more, no lane takes a trial beyond their number: it need not wait, nor can come back.
      const stop = await runTrial(state.lookAhead.on() ? { ...trial, lanes: state.lanes } : trial);
      if (stop === 'later') trials.push(trial);
      else if (stop !== null && state.stop === null) {
        state.stop = stop;
        scope.cancel();
      }
    }
  };
  await scope.run(async () => {
    const lanes: Promise<void>[] = [];
    while (open()) {
      while (active < places() && active < trials.length) {
        active += 1;
        // A lane never rejects: the others must come to rest before the shard does.
        lanes.push(
          lane()
            .catch((error: unknown) => void (failure.error ??= error))
            .finally(() => void (active -= 1)),
        );
      }
      const before = active;
      await condition(() => !open() || active !== before || active < Math.min(places(), trials.length)).catch(
        (error: unknown) => void (failure.error ??= error),
      );
    }
    await Promise.all(lanes);
  });
  if (failure.error !== null && state.stop === null) throw failure.error;
}

/** One trial: the agent, the isolation of its sub-agents, then the judge, each where the trial needs it. Returns why the evaluation must stop, `later` for a trial that has not begun, or null. */
function trialRunner(
  settings: StepSettings,
  lookAhead: LookAhead,
): (trial: TrialStepInput) => Promise<Stop | 'later' | null> {
  const common = {
    heartbeatTimeout: settings.heartbeatTimeoutMs,
    scheduleToCloseTimeout: settings.scheduleToCloseMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: RETRY,
  } as const;
  const agent = proxyActivities<Activities>({
    ...common,
    taskQueue: settings.agentQueue,
    startToCloseTimeout: settings.agentTimeoutMs,
  });
  const judge = proxyActivities<Activities>({
    ...common,
    taskQueue: settings.judgeQueue,
    startToCloseTimeout: settings.judgeTimeoutMs,
  });
  return async (trial) => {
    try {
      const step = await agent.runAgent(trial);
      lookAhead.note(step);
      if (step.n === 'later') return 'later';
      const checked = step.n === 'isolation' ? await judge.checkIsolation(trial) : step;
      if (checked.n === 'done') return checked.stop ?? null;
      return (await judge.judgeTrial(trial)).stop ?? null;
    } catch (error) {
      return stopOf(error);
    }
  };
}

/** A failure that is not a stop leaves the trial missing: the next pass takes it up again. */
function stopOf(error: unknown): Stop | null {
  if (isCancellation(error)) throw error;
  if (!(error instanceof ActivityFailure)) throw error;
  const cause = error.cause;
  if (!(cause instanceof ApplicationFailure)) return null;
  if (cause.type === CANCEL_FAILURE) return { kind: 'canceled', message: 'canceled' };
  if (cause.type === INTERNAL_FAILURE) return { kind: 'internal_error', message: cause.message };
  return cause.type === STOP_FAILURE ? ((cause.details?.[0] as Stop | undefined) ?? null) : null;
}
