import type { JsonObject } from '../core/json.ts';
import type { Score } from '../core/score.ts';
import type { Usage } from '../core/trajectory.ts';

/** A judge's score before it is known whether it decides the trial (same shape as the scorers' drafts). */
export type JudgeDraft = Omit<Score, 'deciding' | 'violation'>;

/**
 * Why a dimension has no verdict. None of these is ever a 0 or a pass.
 * - judge_unparsable: no JSON object, two different ones, a field missing or out of range, a copy of what was
 *   to be judged, also after the repair request
 * - judge_truncated: cut by the token limit, also at four times the limit
 * - judge_refused, judge_empty: refused or said nothing, also after the repair request
 * - judge_tied: as many votes pass as fail
 * - judge_content_filter, judge_context_length, judge_html_body: no repair is asked, a second try would end alike
 */
export type UnscoredCause =
  | 'judge_unparsable'
  | 'judge_truncated'
  | 'judge_refused'
  | 'judge_empty'
  | 'judge_content_filter'
  | 'judge_context_length'
  | 'judge_html_body'
  | 'judge_tied';

/** Something odd about a verdict that counted: stored for a reader, never part of the value. */
export type VerdictFlag =
  /** Another field of the reply (`pass`, `score`, `total` …) says otherwise than the fields that count. */
  | 'contradiction'
  /** The reason repeats text that reads like an instruction to the judge. */
  | 'quotes_instruction';

/** One judge call as it is stored: enough to explain the score, and to recognise the same judge again. */
export interface VerdictRecord {
  dimension: string;
  /** 0-based, over all judges and rounds. */
  vote: number;
  /** 0-based: the how manieth judging of this trajectory. */
  round: number;
  prompt_hash: string;
  /** The model asked for: which judge of a panel it is. */
  judge: string;
  /** The model that answered, as the endpoint named it; else the one asked for. */
  model: string;
  /** Model, sampling parameters and response format of the request. */
  params: JsonObject;
  /** The reply that decided, as received; null when there was no text. */
  raw_reply: string | null;
  /** The reply before the repair request; null when the first one counted or no repair was asked. */
  first_reply: string | null;
  /** Fields of the verdict; null when unscored. */
  parsed: JsonObject | null;
  /** In [0,1]; null, both, when unscored. */
  value: number | null;
  passed: boolean | null;
  unscored_cause: UnscoredCause | null;
  flags: VerdictFlag[];
  /** All calls of this verdict together; null parts = the endpoint did not say. */
  usage: Usage;
  /** Model calls made: 1, or 2 with a repair; 0 when it came from the cache. */
  calls: number;
  reason: string;
  /** The evaluation that paid for the reply, when it came from the verdict cache; null: the judge was asked. */
  cached_from: string | null;
  /** Where the cache keeps it; null: it does not (the cache is off, it came from there, or it is no verdict). */
  cache_key: string | null;
}
