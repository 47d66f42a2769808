import { setInterval } from 'node:timers';
import { Context } from '@temporalio/activity';
import type { EvalCase } from '../core/case.ts';
import { UserError } from '../core/errors.ts';
import type { CallPlace, ModelReply } from '../core/model.ts';
import type { TrialKey } from '../core/trial.ts';
import type { Claim, TrialEnd } from '../db/trial-rows.ts';
import { recordModelFailure, releaseTrial } from '../db/model-failures.ts';
import { loadJournal } from '../db/trial-reads.ts';
import { configuredSecrets, maskError } from './configured-secrets.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { HandedOver } from './hand-over.ts';
import type { Lane } from './step.ts';
import { steadyClock } from './steady-clock.ts';
import { consequenceOf, invalidSetup, stopFailure, workerName } from './trial-failure.ts';
import { createTrialModel } from './trial-model.ts';

/** A trial an activity has claimed, with what it needs to work on it. */
export interface TrialStep {
  key: TrialKey;
  evalCase: EvalCase;
  claim: Claim;
  context: EvaluationContext;
  /** undefined: the worker does not count the trial. */
  lane: Lane | undefined;
  signal: AbortSignal;
  /** Aborted when the evaluation was canceled. */
  canceled: AbortSignal;
  model: ReturnType<typeof createTrialModel>;
}

/** What is known of a trial when its step is given up. */
export type GivenUp = Pick<TrialStep, 'key' | 'evalCase' | 'claim' | 'context' | 'lane'>;

/** What a step does, and what it stores when its failures are used up. */
export interface StepWork {
  role: 'agent' | 'judge';
  work: (step: TrialStep) => Promise<TrialStepResult>;
  giveUp: (trial: GivenUp, error: { kind: string; message: string }) => Promise<TrialStepResult>;
  /** What an earlier step of this process left for this one; null when there is nothing. */
  handed: HandedOver | null;
  lane: Lane | undefined;
}

/**
 * The frame of both trial activities: heartbeats, claim (a finished trial is left alone), journal, and the sorting of
 * failures. What `work` throws becomes a retry, a stop of the evaluation, or what `giveUp` stores.
 */
export async function runTrialStep(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  input: TrialStepInput,
  { role, work, giveUp, handed, lane }: StepWork,
): Promise<TrialStepResult> {
  const activity = Context.current();
  const beat = setInterval(() => activity.heartbeat(), deps.config.heartbeatTimeoutMs / 4);
  try {
    const context = await contextOf(input.evaluationId, input.revision).catch((error: unknown) =>
      stopForUser(error, workerName(deps.config.hostName)),
    );
    if (await context.overBudget()) {
      throw stopFailure({ kind: 'budget', message: 'the budget of the evaluation is spent' });
    }
    const { evalCase } = handed ?? (await (lane?.stored ?? deps.readCase(input.evaluationId, input.position)));
    const key = { evaluation_id: input.evaluationId, case_id: evalCase.id, trial_index: input.trialIndex };
    const claim = handed?.claim ?? (await deps.writer.claim(key));
    if (claim === null) return { n: 'done' };
    const deaths = context.suite.retry.worker_deaths;
    if (claim.deaths >= deaths) {
      const message = `the process that ran this trial died ${claim.deaths} times`;
      return await giveUp({ key, evalCase, claim, context, lane }, { kind: 'worker_crashed', message });
    }
    const canceled = deps.cancellations.signalOf(input.evaluationId, input.revision);
    const signal = AbortSignal.any([activity.cancellationSignal, canceled]);
    const model = createTrialModel({
      client: role === 'judge' && context.judge !== null ? context.judge.model : context.agentModel,
      key,
      fence: claim.fence,
      journal: claim.first ? [] : await loadJournal(deps.db, key),
      writer: deps.writer,
      prices: context.suite.prices,
      now: steadyClock(deps),
      isLast: isLastOf(context.suite.agent.type),
    });
    return await guarded(deps, { key, evalCase, claim, context, lane, signal, canceled, model }, work, giveUp);
  } finally {
    clearInterval(beat);
  }
}

/**
 * Replies after which this step writes what it has at once: a judge's, and the answer of our own model loop. An agent
 * of the user's own may go on for long after any reply.
 */
const isLastOf =
  (agent: string) =>
  (place: CallPlace, reply: ModelReply): boolean =>
    place.role === 'judge' || (agent === 'openai' && place.path === '' && reply.tool_calls.length === 0);

/** What the user must mend (prompts, scripted model, agent) is the same for every trial. */
function stopForUser(error: unknown, worker: string): never {
  throw error instanceof UserError ? stopFailure(invalidSetup(error, worker)) : error;
}

async function guarded(
  deps: ActivityDeps,
  step: TrialStep,
  work: StepWork['work'],
  giveUp: StepWork['giveUp'],
): Promise<TrialStepResult> {
  try {
    return await work(step);
  } catch (thrown) {
    // Paid for, whatever comes now.
    const error = await step.model.record().then(
      () => thrown,
      (unwritten: unknown) => unwritten,
    );
    maskError(error, configuredSecrets(step.context.suite, deps.config.env));
    const consequence = await consequenceOf(error, {
      count: (counter) => recordModelFailure(deps.db, step.key, step.claim.fence, counter),
      retry: step.context.suite.retry,
      canceled: step.canceled.aborted || cancelReason() === 'CANCELLED',
      shutdown: cancelReason() === 'WORKER_SHUTDOWN',
      random: Math.random,
      worker: workerName(deps.config.hostName),
    });
    if ('errored' in consequence) return await giveUp(step, consequence.errored);
    await releaseTrial(deps.db, step.key, step.claim.fence, consequence.retried ?? null);
    throw consequence.throw;
  }
}

/** Why Temporal canceled this activity; null when it did not. */
function cancelReason(): string | null {
  const { cancellationSignal } = Context.current();
  if (!cancellationSignal.aborted) return null;
  const reason: unknown = cancellationSignal.reason;
  return reason instanceof Error ? reason.message : 'CANCELLED';
}

/**
 * Ends a trial with its last write. The next trial begins meanwhile, unless this one stops the evaluation (with fail-fast,
 * a failed one does), or its money may.
 * @param reason what its status comes from
 */
export async function finishTrial(
  { writer }: Pick<ActivityDeps, 'writer'>,
  { key, claim, context, lane }: GivenUp,
  end: Omit<TrialEnd, 'key' | 'fence'>,
  reason: string,
): Promise<TrialStepResult> {
  const stops = context.failFast && end.status === 'failed';
  if (!stops && !context.budgeted) lane?.leave();
  await writer.finish({ key, fence: claim.fence, ...end });
  if (!stops) return { n: 'done' };
  const message = `--fail-fast: ${key.case_id} trial ${key.trial_index} ${end.status}: ${reason}`;
  return { n: 'done', stop: { kind: 'fail_fast', message } };
}
