import type { ChatMessage } from '../core/case.ts';
import { hashValue } from '../core/hash.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { ModelReply } from '../core/model.ts';
import { NO_USAGE } from '../core/trajectory.ts';
import type { AskedDimension, JudgeAnswer } from './ask-judge.ts';
import type { ShownData } from './copied-reply.ts';
import { readReply } from './read-reply.ts';

/** A valid reply of an earlier evaluation. */
export interface CachedVerdict {
  raw_reply: string;
  /** The model that answered, as the endpoint named it. */
  model: string | null;
  /** The parameters as the endpoint took them then; `left_out` names what it did not take. */
  params: Json;
  /** Where it was paid for. */
  evaluation_id: string;
}

/** Verdicts given before, across evaluations. */
export interface VerdictCache {
  /** All keys of a trial at once. */
  lookup: (keys: readonly string[]) => Promise<ReadonlyMap<string, CachedVerdict>>;
  /** Address of the endpoint that serves a model: the same name elsewhere is another judge. */
  endpointOf: (model: string) => string;
  /** 1-based repetition of the case. */
  trialIndex: number;
  /** True when an earlier attempt at this trial made the call already: it is replayed from the journal, with its cost. */
  journaled: (dimension: string, vote: number) => boolean;
}

/** Everything a verdict depends on. */
export interface VerdictIdentity {
  /** Its reply is read by the rules of the dimension, and may be asked for by its schema. */
  dimension: string;
  prompt_hash: string;
  endpoint: string;
  model: string;
  params: JsonObject;
  messages: readonly ChatMessage[];
  vote: number;
  round: number;
  trial_index: number;
}

/**
 * The key of a verdict. The repetition of the case is part of it: trials are independent measurements, and the cost of
 * an evaluation must not depend on which of two equal answers was judged first.
 */
export function verdictKey(identity: VerdictIdentity): string {
  return hashValue({ ...identity, format: 1 });
}

/**
 * A cached reply, read as if it came now: what counts is decided by the rules of this version. Null when they do not
 * accept it any more. No tokens and no call: nothing was paid.
 */
export function answerFromCache(
  cached: CachedVerdict,
  dimension: Pick<AskedDimension, 'read'>,
  shown: ShownData,
): JudgeAnswer | null {
  const reply = {
    content: cached.raw_reply,
    refusal: null,
    tool_calls: [],
    finish_reason: 'stop',
    usage: NO_USAGE,
    model: cached.model,
    request_id: null,
    time_to_first_token_ms: null,
  };
  const result = readReply(reply, dimension, shown);
  if (!result.ok) return null;
  return {
    reading: result.reading,
    cause: null,
    error: null,
    rawReply: cached.raw_reply,
    firstReply: null,
    model: cached.model,
    usage: NO_USAGE,
    calls: 0,
    leftOut: leftOutOf(cached.params),
  };
}

const LEFT_OUT = ['temperature', 'seed', 'response_format', 'json_schema'] as const;

/** A verdict tells how it was come by, also when another evaluation paid for it. */
function leftOutOf(params: Json): NonNullable<ModelReply['left_out']> {
  const names = isJsonObject(params) && Array.isArray(params['left_out']) ? params['left_out'] : [];
  return LEFT_OUT.filter((name) => names.includes(name));
}
