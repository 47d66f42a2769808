import type { ChatMessage } from '../core/case.ts';
import type { JsonObject } from '../core/json.ts';
import type { TrialModel } from '../core/model.ts';
import type { JudgeConfig } from '../core/suite.ts';
import { judgeName } from '../core/suite.ts';
import { askJudge } from './ask-judge.ts';
import type { JudgeAnswer } from './ask-judge.ts';
import { answerFromCache, verdictKey } from './cache.ts';
import type { CachedVerdict, VerdictCache } from './cache.ts';
import { shownData } from './copied-reply.ts';
import type { ShownData } from './copied-reply.ts';
import type { DimensionSpec, JudgeSubject } from './dimensions/dimension.ts';
import { quotesInstruction } from './instruction-echo.ts';
import { renderPrompt } from './prompt.ts';
import type { Prompt, PromptSet } from './prompt.ts';
import type { JudgeDraft, VerdictFlag, VerdictRecord } from './verdict.ts';
import { joinedReason, joinVotes, roundValues, votePlaces } from './votes.ts';
import type { Vote, VotePlace } from './votes.ts';

/** What is asked of one dimension: the same messages for every vote. */
export interface Ballot {
  dimension: DimensionSpec;
  prompt: Prompt;
  messages: ChatMessage[];
  shown: ShownData;
  votes: BallotVote[];
}

export interface BallotVote extends VotePlace {
  /** Key of the verdict cache; null: neither looked up nor stored. */
  cacheKey: string | null;
}

/** Renders the prompt of a dimension once, for all its votes. @throws Error when the prompt set lacks it */
export function prepareBallot(
  dimension: DimensionSpec,
  subject: JudgeSubject,
  options: { config: JudgeConfig; prompts: PromptSet; cache: VerdictCache | null },
): Ballot {
  const prompt = options.prompts.byName.get(dimension.name);
  if (prompt === undefined) throw new Error(`No prompt was loaded for the judge dimension ${dimension.name}`);
  const content = dimension.content(subject);
  const messages: ChatMessage[] = [
    { role: 'system', content: prompt.instructions },
    { role: 'user', content: renderPrompt(prompt, content, options.prompts.none) },
  ];
  const votes = votePlaces(options.config).map((place) => ({
    ...place,
    cacheKey: cacheKeyOf({ dimension, prompt, messages, place, cache: options.cache }),
  }));
  return { dimension, prompt, messages, shown: shownData(content, dimension.variables), votes };
}

function cacheKeyOf(asked: {
  dimension: DimensionSpec;
  prompt: Prompt;
  messages: ChatMessage[];
  place: VotePlace;
  cache: VerdictCache | null;
}): string | null {
  const { cache, dimension, messages, place, prompt } = asked;
  if (cache === null || cache.journaled(dimension.name, place.vote)) return null;
  const { model } = place.config;
  return verdictKey({
    dimension: dimension.name,
    prompt_hash: prompt.hash,
    endpoint: cache.endpointOf(model),
    model,
    params: paramsOf(place.config),
    messages,
    vote: place.vote,
    round: place.round,
    trial_index: cache.trialIndex,
  });
}

/** Looks up every vote of a trial at once. */
export async function lookUpBallots(
  cache: VerdictCache | null,
  ballots: readonly Ballot[],
): Promise<ReadonlyMap<string, CachedVerdict>> {
  const keys = ballots.flatMap(({ votes }) => votes.flatMap(({ cacheKey }) => cacheKey ?? []));
  return cache === null || keys.length === 0 ? new Map() : cache.lookup(keys);
}

/** One vote: from the cache where it holds a valid one, else from its judge. @throws as askJudge */
export async function castVote(
  ballot: Ballot,
  place: BallotVote,
  asking: {
    cached: ReadonlyMap<string, CachedVerdict>;
    model: TrialModel;
    signal: AbortSignal;
    timeoutMs: number;
  },
): Promise<VerdictRecord> {
  const { dimension, messages, shown } = ballot;
  const known = place.cacheKey === null ? undefined : asking.cached.get(place.cacheKey);
  const remembered = known === undefined ? null : answerFromCache(known, dimension, shown);
  if (known !== undefined && remembered !== null) {
    return { ...verdictOf(remembered, ballot, place), cached_from: known.evaluation_id, cache_key: null };
  }
  const { model, signal, timeoutMs } = asking;
  const { config, vote } = place;
  const answer = await askJudge({ dimension, messages, shown, config, model, vote, signal, timeoutMs });
  return verdictOf(answer, ballot, place);
}

function verdictOf(answer: JudgeAnswer, { dimension, prompt }: Ballot, place: BallotVote): VerdictRecord {
  const flags: VerdictFlag[] = [...(answer.reading?.flags ?? [])];
  if (quotesInstruction(answer.reading?.reason ?? null)) flags.push('quotes_instruction');
  return {
    dimension: dimension.name,
    vote: place.vote,
    round: place.round,
    prompt_hash: prompt.hash,
    judge: place.config.model,
    model: answer.model ?? place.config.model,
    params: paramsSent(place.config, answer.leftOut ?? []),
    raw_reply: answer.rawReply,
    first_reply: answer.firstReply,
    parsed: answer.reading?.parsed ?? null,
    value: answer.reading?.value ?? null,
    passed: answer.reading?.passed ?? null,
    unscored_cause: answer.cause,
    flags,
    usage: answer.usage,
    calls: answer.calls,
    reason: reasonOf(answer),
    cached_from: null,
    // Only a valid verdict is worth keeping; another one may be valid when it is asked for again.
    cache_key: answer.reading === null || answer.rawReply === null ? null : place.cacheKey,
  };
}

function reasonOf(answer: JudgeAnswer): string {
  if (answer.reading === null) return `${answer.cause ?? 'judge_unparsable'}: ${answer.error ?? 'no verdict'}`;
  return answer.reading.reason ?? 'the judge gave no reason';
}

function paramsOf(config: JudgeConfig): JsonObject {
  return {
    model: config.model,
    temperature: config.temperature,
    ...(config.seed === undefined ? {} : { seed: config.seed }),
    max_output_tokens: config.max_output_tokens,
    response_format: config.response_format,
    language: config.language,
  };
}

/** The parameters as the endpoint took them: what it refused was not sent. */
function paramsSent(config: JudgeConfig, leftOut: NonNullable<JudgeAnswer['leftOut']>): JsonObject {
  const params = paramsOf(config);
  for (const name of leftOut) {
    if (name === 'json_schema') params['response_format'] = 'json_object';
    else if (name === 'response_format') params['response_format'] = 'text';
    else delete params[name];
  }
  return leftOut.length === 0 ? params : { ...params, left_out: leftOut };
}

/** The score of a dimension: its only verdict, or its votes joined. */
export function draftOf(ballot: Ballot, verdicts: readonly VerdictRecord[], config: JudgeConfig): JudgeDraft {
  const [only, second] = verdicts;
  return only !== undefined && second === undefined ? draftOfOne(only) : draftOfVotes(ballot, verdicts, config);
}

function draftOfOne(verdict: VerdictRecord): JudgeDraft {
  return {
    scorer: verdict.dimension,
    dimension: verdict.dimension,
    value: verdict.value,
    passed: verdict.passed,
    reason: verdict.reason,
    details: {
      judge_model: verdict.model,
      ...(verdict.parsed === null ? {} : { verdict: verdict.parsed }),
      ...(verdict.unscored_cause === null ? {} : { unscored_cause: verdict.unscored_cause }),
      ...(verdict.flags.length === 0 ? {} : { flags: verdict.flags }),
      ...(verdict.cached_from === null ? {} : { cached_from: verdict.cached_from }),
    },
  };
}

function draftOfVotes({ dimension }: Ballot, verdicts: readonly VerdictRecord[], config: JudgeConfig): JudgeDraft {
  const rule = { aggregate: config.aggregate ?? 'majority', scale: dimension.scale, passesAt: dimension.passesAt };
  const votes = verdicts.map((verdict): Vote => ({ ...verdict, model: verdict.judge, cause: verdict.unscored_cause }));
  const joined = joinVotes(votes, rule);
  const flags = [...new Set(verdicts.flatMap((verdict) => verdict.flags))];
  return {
    scorer: dimension.name,
    dimension: dimension.name,
    value: joined.value,
    passed: joined.passed,
    reason: joinedReason(votes, joined),
    details: {
      judge_model: judgeName(config) ?? config.model,
      aggregate: rule.aggregate,
      valid_votes: joined.valid,
      disagreement: joined.disagreement,
      votes: verdicts.map((verdict) => ({
        vote: verdict.vote,
        model: verdict.judge,
        value: verdict.value,
        passed: verdict.passed,
        ...(verdict.parsed === null ? {} : { verdict: verdict.parsed }),
        ...(verdict.unscored_cause === null ? {} : { unscored_cause: verdict.unscored_cause }),
        ...(verdict.cached_from === null ? {} : { cached_from: verdict.cached_from }),
      })),
      ...(joined.cause === null ? {} : { unscored_cause: joined.cause }),
      ...(flags.length === 0 ? {} : { flags }),
      // Read by the statistics of an evaluation that judges each trajectory several times.
      ...((config.times ?? 1) > 1 ? { rounds: roundValues(votes, rule) } : {}),
    },
  };
}
