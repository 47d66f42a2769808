import type { ChatMessage, EvalCase } from '../core/case.ts';
import { queryOf } from '../core/case.ts';
import type { TrialModel } from '../core/model.ts';
import type { PairVerdict, Preference } from '../core/pairwise.ts';
import type { JudgeConfig } from '../core/suite.ts';
import { judgesOf } from '../core/suite.ts';
import { askJudge } from './ask-judge.ts';
import type { AskedDimension, JudgeAnswer } from './ask-judge.ts';
import { answerFromCache, verdictKey } from './cache.ts';
import type { CachedVerdict } from './cache.ts';
import { shownData } from './copied-reply.ts';
import type { ShownData } from './copied-reply.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimensions/dimension.ts';
import { renderPrompt } from './prompt.ts';
import type { Prompt, PromptSet } from './prompt.ts';

/** Name of the prompt (`pairwise.txt`) and of the stored verdicts. */
export const PAIRWISE = 'pairwise';

export const PAIRWISE_VARIABLES = promptVariables({
  required: ['query', 'first', 'second'],
  optional: ['reference', 'criteria'],
  fromAgent: ['first', 'second'],
});

const WINNERS = ['first', 'second', 'tie'] as const;
const VALUES = { first: 1, tie: 0.5, second: 0 } as const;

/** `{"winner": "first" | "second" | "tie", "reason"}`; the value is the first answer's share of the win. */
const question: AskedDimension = {
  name: PAIRWISE,
  replySchema: closedObject({ winner: { type: 'string', enum: [...WINNERS] }, reason: REPLY_PART.text }),
  read: (fields) => {
    const winner = fields.choice('winner', WINNERS);
    return { value: VALUES[winner], passed: true, reason: fields.text('reason'), parsed: { winner }, flags: [] };
  },
};

/** A pair of answers to the same case. */
export interface Pair {
  evalCase: EvalCase;
  trialIndex: number;
  /** Answer of either evaluation; null = it gave none. */
  a: string | null;
  b: string | null;
}

export interface PairJudging {
  config: JudgeConfig;
  prompts: PromptSet;
  model: TrialModel;
  signal: AbortSignal;
  timeoutMs: number;
  /** Address of the endpoint that serves a model. */
  endpointOf: (model: string) => string;
  /** Null: nothing is looked up or kept. */
  cache: {
    lookup: (keys: readonly string[]) => Promise<ReadonlyMap<string, CachedVerdict>>;
    keep: (entry: KeptVerdict) => Promise<void>;
  } | null;
}

/** A valid reply to be kept, so that a comparison that was interrupted pays for nothing twice. */
interface KeptVerdict {
  key: string;
  dimension: string;
  prompt_hash: string;
  model: string | null;
  params: Record<string, string | number>;
  raw_reply: string;
}

/**
 * Asks every judge in both orders. A judge prefers an answer only when both orders say so; what changes with the order is
 * a tie. Of several judges the side with more of them wins, else it is a tie; without a verdict in both orders of any
 * judge there is none.
 * @throws ModelError of every kind that is not a verdict's own
 */
export async function comparePair(pair: Pair, judging: PairJudging): Promise<PairVerdict> {
  const prompt = judging.prompts.byName.get(PAIRWISE);
  if (prompt === undefined) throw new Error(`No prompt was loaded for ${PAIRWISE}`);
  const judged = await Promise.all(
    judgesOf(judging.config).map(async ({ model }, judge) => {
      const ask = (swapped: boolean): Promise<JudgeAnswer> =>
        askOrder({ pair, prompt, judging, model, judge, swapped });
      const [aFirst, bFirst] = await Promise.all([ask(false), ask(true)]);
      const a_first = preferenceOf(aFirst, false);
      const b_first = preferenceOf(bFirst, true);
      return { model, a_first, b_first, reason: reasonOf(aFirst, bFirst) };
    }),
  );
  const winner = joined(judged.map(({ a_first, b_first }) => agreed(a_first, b_first)));
  const deciding = judged.find((one) => agreed(one.a_first, one.b_first) === winner) ?? judged[0];
  return {
    case_id: pair.evalCase.id,
    trial_index: pair.trialIndex,
    winner,
    orders: judged.map(({ model, a_first, b_first }) => ({ model, a_first, b_first })),
    reason: deciding?.reason ?? 'no judge',
  };
}

/** What both orders together say. */
export function agreed(aFirst: Preference | null, bFirst: Preference | null): Preference | null {
  if (aFirst === null || bFirst === null) return null;
  return aFirst === bFirst ? aFirst : 'tie';
}

/** What several judges together say: the side with more of them. */
export function joined(preferences: readonly (Preference | null)[]): Preference | null {
  const count = (wanted: Preference): number => preferences.filter((one) => one === wanted).length;
  if (preferences.every((one) => one === null)) return null;
  const lead = count('a') - count('b');
  return lead === 0 ? 'tie' : lead > 0 ? 'a' : 'b';
}

function preferenceOf({ reading }: JudgeAnswer, swapped: boolean): Preference | null {
  if (reading === null) return null;
  if (reading.value === VALUES.tie) return 'tie';
  return (reading.value === VALUES.first) === swapped ? 'b' : 'a';
}

function reasonOf(aFirst: JudgeAnswer, bFirst: JudgeAnswer): string {
  const failed = [aFirst, bFirst].find(({ reading }) => reading === null);
  if (failed !== undefined) return `${failed.cause ?? 'judge_unparsable'}: ${failed.error ?? 'no verdict'}`;
  const [one, two] = [preferenceOf(aFirst, false), preferenceOf(bFirst, true)];
  const reason = aFirst.reading?.reason ?? 'the judge gave no reason';
  return one === two ? reason : `the orders disagree: ${reason}; swapped: ${bFirst.reading?.reason ?? 'no reason'}`;
}

interface Order {
  pair: Pair;
  prompt: Prompt;
  judging: PairJudging;
  model: string;
  /** 0-based place of the judge in the panel. */
  judge: number;
  /** True: `b` is shown first. */
  swapped: boolean;
}

async function askOrder(order: Order): Promise<JudgeAnswer> {
  const { judging, model, prompt } = order;
  const { messages, shown } = rendered(order);
  const vote = order.judge * 2 + Number(order.swapped);
  const params = paramsOf(judging.config);
  const key = verdictKey({
    dimension: PAIRWISE,
    prompt_hash: prompt.hash,
    endpoint: judging.endpointOf(model),
    model,
    params,
    messages,
    vote,
    round: 0,
    trial_index: order.pair.trialIndex,
  });
  const known = (await judging.cache?.lookup([key]))?.get(key);
  const remembered = known === undefined ? null : answerFromCache(known, question, shown);
  if (remembered !== null) return remembered;
  const answer = await askJudge({
    dimension: question,
    messages,
    shown,
    config: { ...judging.config, model },
    model: judging.model,
    vote,
    signal: judging.signal,
    timeoutMs: judging.timeoutMs,
  });
  if (answer.reading !== null && answer.rawReply !== null) {
    const kept = { key, dimension: PAIRWISE, prompt_hash: prompt.hash, model: answer.model, params };
    await judging.cache?.keep({ ...kept, raw_reply: answer.rawReply });
  }
  return answer;
}

function rendered({ pair, prompt, judging, swapped }: Order): { messages: ChatMessage[]; shown: ShownData } {
  const { evalCase, a, b } = pair;
  const content = {
    query: queryOf(evalCase),
    reference: evalCase.expected.answer ?? null,
    criteria: evalCase.expected.criteria ?? evalCase.rubric ?? null,
    first: swapped ? b : a,
    second: swapped ? a : b,
  };
  const messages: ChatMessage[] = [
    { role: 'system', content: prompt.instructions },
    { role: 'user', content: renderPrompt(prompt, content, judging.prompts.none) },
  ];
  return { messages, shown: shownData(content, PAIRWISE_VARIABLES) };
}

function paramsOf({
  temperature,
  seed,
  max_output_tokens,
  response_format,
  language,
}: JudgeConfig): KeptVerdict['params'] {
  return { temperature, ...(seed === undefined ? {} : { seed }), max_output_tokens, response_format, language };
}
