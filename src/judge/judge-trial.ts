import type { ChatMessage, EvalCase } from '../core/case.ts';
import { isRetried, ModelError, stopsEvaluation } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { TrialModel } from '../core/model.ts';
import type { JudgeConfig, JudgeDimension } from '../core/suite.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { askJudge } from './ask-judge.ts';
import type { JudgeAnswer } from './ask-judge.ts';
import { shownData } from './copied-reply.ts';
import type { DimensionSpec } from './dimensions/dimension.ts';
import { DIMENSIONS } from './dimensions/dimensions.ts';
import { quotesInstruction } from './instruction-echo.ts';
import { renderPrompt } from './prompt.ts';
import type { Prompt, PromptSet } from './prompt.ts';
import type { JudgeDraft, VerdictFlag, VerdictRecord } from './verdict.ts';

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

export interface JudgeTrialInput {
  evalCase: EvalCase;
  trajectory: Trajectory;
  config: JudgeConfig;
  /** Which dimensions to judge; see `judgeDimensionsFor` of the scorers. */
  dimensions: readonly JudgeDimension[];
  prompts: PromptSet;
  /** Calls through here are journaled: a retried activity pays for none twice. */
  model: TrialModel;
  signal: AbortSignal;
  /** One model call, milliseconds. Default 60,000. */
  callTimeoutMs?: number;
}

export interface JudgeTrialResult {
  drafts: JudgeDraft[];
  verdicts: VerdictRecord[];
}

/**
 * Judges one trajectory in every dimension, all at once. A dimension whose judge gives no usable verdict is unscored
 * (value and passed null, with its cause); it is never a 0 and never a pass.
 * @throws ModelError when a call failed in a way that is not the verdict's own; calls that succeeded stay in the journal.
 * Of several failures the one that stops the evaluation is thrown first, one that would be retried last.
 */
export async function judgeTrial(input: JudgeTrialInput): Promise<JudgeTrialResult> {
  const outcomes = await Promise.allSettled(input.dimensions.map((name) => judgeDimension(DIMENSIONS[name], input)));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
  if (failures.length > 0) {
    throw failures.reduce((worst: unknown, next: unknown) => (severity(next) > severity(worst) ? next : worst));
  }
  const judged = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value);
  return { drafts: judged.map((one) => one.draft), verdicts: judged.map((one) => one.verdict) };
}

function severity(error: unknown): number {
  if (!(error instanceof ModelError)) return 4;
  if (error.kind === 'aborted') return 3;
  if (stopsEvaluation(error.kind)) return 2;
  return isRetried(error.kind) ? 0 : 1;
}

async function judgeDimension(
  dimension: DimensionSpec,
  input: JudgeTrialInput,
): Promise<{ draft: JudgeDraft; verdict: VerdictRecord }> {
  const prompt = input.prompts.byName.get(dimension.name);
  if (prompt === undefined) throw new Error(`No prompt was loaded for the judge dimension ${dimension.name}`);
  const vote = 0;
  const content = dimension.content({ evalCase: input.evalCase, trajectory: input.trajectory });
  const answer = await askJudge({
    dimension,
    messages: judgeMessages(prompt, content, input.prompts.none),
    shown: shownData(content),
    config: input.config,
    model: input.model,
    vote,
    signal: input.signal,
    timeoutMs: input.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
  });
  const verdict = verdictOf(answer, { dimension, prompt, config: input.config, vote });
  return { verdict, draft: draftOf(answer, verdict) };
}

function judgeMessages(prompt: Prompt, content: Readonly<Record<string, string | null>>, none: string): ChatMessage[] {
  return [
    { role: 'system', content: prompt.instructions },
    { role: 'user', content: renderPrompt(prompt, content, none) },
  ];
}

function verdictOf(
  answer: JudgeAnswer,
  asked: { dimension: DimensionSpec; prompt: Prompt; config: JudgeConfig; vote: number },
): VerdictRecord {
  const flags: VerdictFlag[] = [...(answer.reading?.flags ?? [])];
  if (quotesInstruction(answer.reading?.reason ?? null)) flags.push('quotes_instruction');
  return {
    dimension: asked.dimension.name,
    vote: asked.vote,
    prompt_hash: asked.prompt.hash,
    model: answer.model ?? asked.config.model,
    params: paramsOf(asked.config),
    raw_reply: answer.rawReply,
    first_reply: answer.firstReply,
    parsed: answer.reading?.parsed ?? null,
    unscored_cause: answer.cause,
    flags,
    usage: answer.usage,
    calls: answer.calls,
    reason: reasonOf(answer),
  };
}

function reasonOf(answer: JudgeAnswer): string {
  if (answer.reading === null) return `${answer.cause ?? 'judge_unparsable'}: ${answer.error ?? 'no verdict'}`;
  return answer.reading.reason ?? 'the judge gave no reason';
}

function paramsOf(config: JudgeConfig): JsonObject {
  return {
    temperature: config.temperature,
    ...(config.seed === undefined ? {} : { seed: config.seed }),
    max_output_tokens: config.max_output_tokens,
    response_format: config.response_format,
    language: config.language,
  };
}

function draftOf(answer: JudgeAnswer, verdict: VerdictRecord): JudgeDraft {
  return {
    scorer: verdict.dimension,
    dimension: verdict.dimension,
    value: answer.reading?.value ?? null,
    passed: answer.reading?.passed ?? null,
    reason: verdict.reason,
    details: {
      judge_model: verdict.model,
      ...(verdict.parsed === null ? {} : { verdict: verdict.parsed }),
      ...(verdict.unscored_cause === null ? {} : { unscored_cause: verdict.unscored_cause }),
      ...(verdict.flags.length === 0 ? {} : { flags: verdict.flags }),
    },
  };
}
