import type { ChatMessage } from '../core/case.ts';
import { ModelError } from '../core/errors.ts';
import type { ModelReply, ModelRequest, TrialModel } from '../core/model.ts';
import type { JudgeConfig } from '../core/suite.ts';
import { addUsage, NO_USAGE } from '../core/trajectory.ts';
import type { Usage } from '../core/trajectory.ts';
import type { ShownData } from './copied-reply.ts';
import type { DimensionSpec, Reading } from './dimensions/dimension.ts';
import { readReply } from './read-reply.ts';
import type { Fault } from './read-reply.ts';
import type { UnscoredCause } from './verdict.ts';

/** How much larger the token limit is when a reply was cut. */
const TRUNCATION_FACTOR = 4;

/** What one dimension's judge calls came to. */
export interface JudgeAnswer {
  reading: Reading | null;
  /** Set when `reading` is null. */
  cause: UnscoredCause | null;
  /** What was wrong with the last reply; null when it counted. */
  error: string | null;
  rawReply: string | null;
  firstReply: string | null;
  model: string | null;
  usage: Usage;
  calls: number;
  /** What of the parameters the endpoint did not take. Default none. */
  leftOut?: ModelReply['left_out'];
}

/** What asking needs of a dimension; a pairwise comparison asks the same way. */
export type AskedDimension = Pick<DimensionSpec, 'replySchema' | 'read'> & { name: string };

export interface JudgeQuestion {
  dimension: AskedDimension;
  messages: ChatMessage[];
  /** The data in `messages`, which a reply must not only repeat. */
  shown: ShownData;
  config: JudgeConfig;
  model: TrialModel;
  vote: number;
  signal: AbortSignal;
  /** One call, milliseconds. */
  timeoutMs: number;
}

/**
 * Asks once, and once more when the reply cannot be used: the second request shows the error or, after a cut reply,
 * allows four times the tokens. A content filter, a context that is too long and a web page get no second request.
 * @throws ModelError of every kind that is not a verdict's own (retried, stopping, bad request, aborted)
 */
export async function askJudge(question: JudgeQuestion): Promise<JudgeAnswer> {
  const limit = question.config.max_output_tokens;
  const first = await callOnce(question, question.messages, limit, 0);
  if (first.fault === null || !first.fault.repairable) return answerOf([first]);
  const truncated = first.fault.cause === 'judge_truncated';
  const second = await callOnce(
    question,
    repairMessages(question.messages, first.rawReply, first.fault),
    truncated ? limit * TRUNCATION_FACTOR : limit,
    1,
  );
  return answerOf([first, second]);
}

interface Call {
  reading: Reading | null;
  fault: Fault | null;
  rawReply: string | null;
  model: string | null;
  usage: Usage;
  leftOut?: ModelReply['left_out'];
}

async function callOnce(
  question: JudgeQuestion,
  messages: ChatMessage[],
  maxOutputTokens: number,
  sequence: number,
): Promise<Call> {
  const { config, dimension, signal, timeoutMs, vote } = question;
  const request = judgeRequest(config, dimension, messages, maxOutputTokens);
  const place = { role: 'judge', path: '', dimension: dimension.name, vote, sequence } as const;
  let reply: ModelReply;
  try {
    reply = await question.model.complete(request, { signal, timeoutMs, place });
  } catch (error) {
    const fault = ownFault(error);
    if (fault === null) throw error;
    return { reading: null, fault, rawReply: null, model: null, usage: NO_USAGE };
  }
  const rawReply = reply.content ?? reply.refusal;
  const result = readReply(reply, dimension, question.shown);
  const { left_out: leftOut } = reply;
  const rest = { rawReply, model: reply.model, usage: reply.usage, ...(leftOut === undefined ? {} : { leftOut }) };
  return result.ok
    ? { reading: result.reading, fault: null, ...rest }
    : { reading: null, fault: result.fault, ...rest };
}

/** Failures that are the verdict's own outcome: a second try would end alike, and the trial is not at fault. */
function ownFault(error: unknown): Fault | null {
  if (!(error instanceof ModelError)) return null;
  if (error.kind === 'context_length') {
    return { cause: 'judge_context_length', error: error.message, repairable: false };
  }
  if (error.kind === 'content_filter') {
    return { cause: 'judge_content_filter', error: error.message, repairable: false };
  }
  // A web page with status 200: the client tells it as an invalid reply. Other invalid replies are retried.
  if (error.kind === 'invalid_reply' && /\bHTML\b/.test(error.message)) {
    return { cause: 'judge_html_body', error: error.message, repairable: false };
  }
  return null;
}

/** The request as sent; equal input gives an equal request, which is what the journal and caches recognise. */
function judgeRequest(
  config: JudgeConfig,
  dimension: AskedDimension,
  messages: ChatMessage[],
  maxOutputTokens: number,
): ModelRequest {
  const request: ModelRequest = {
    model: config.model,
    messages,
    temperature: config.temperature,
    max_output_tokens: maxOutputTokens,
  };
  if (config.seed !== undefined) request.seed = config.seed;
  if (config.response_format === 'json_object') request.response_format = { type: 'json_object' };
  if (config.response_format === 'json_schema') {
    request.response_format = {
      type: 'json_schema',
      json_schema: { name: dimension.name, strict: true, schema: dimension.replySchema },
    };
  }
  return request;
}

function repairMessages(messages: ChatMessage[], rawReply: string | null, fault: Fault): ChatMessage[] {
  const repair: ChatMessage = {
    role: 'user',
    content:
      `Your reply could not be used: ${fault.error}. ` +
      'Reply again with the one JSON object that was asked for, and nothing else.',
  };
  // A cut reply is not shown again: it would use up the larger limit. An empty one is refused by some endpoints.
  const shown = fault.cause === 'judge_truncated' || rawReply === null || rawReply.trim() === '' ? null : rawReply;
  return shown === null ? [...messages, repair] : [...messages, { role: 'assistant', content: shown }, repair];
}

function answerOf(calls: [Call] | [Call, Call]): JudgeAnswer {
  const last = calls[1] ?? calls[0];
  return {
    reading: last.reading,
    cause: last.fault?.cause ?? null,
    error: last.fault?.error ?? null,
    rawReply: last.rawReply,
    firstReply: calls.length === 2 ? calls[0].rawReply : null,
    model: last.model ?? calls[0].model,
    usage: calls.map((call) => call.usage).reduce(addUsage),
    calls: calls.length,
    ...(last.leftOut === undefined ? {} : { leftOut: last.leftOut }),
  };
}
