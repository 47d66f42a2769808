import path from 'node:path';
import { abortError, sleep } from '../../agents/sleep.ts';
import { EXIT, isRetried, ModelError, stopsEvaluation, UserError } from '../../core/errors.ts';
import type { ModelClient, ModelReply, TrialModel } from '../../core/model.ts';
import type { PairVerdict } from '../../core/pairwise.ts';
import { costOf } from '../../core/price.ts';
import { judgeName, type JudgeConfig, judgesOf, type Suite } from '../../core/suite.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { type PairedAnswers, streamPairedAnswers } from '../../db/paired-answers.ts';
import { createVerdictReader, keepVerdict } from '../../db/verdict-cache.ts';
import { withAcceptedParameters } from '../../judge/accepted-parameters.ts';
import { loadPrompts } from '../../judge/load-prompts.ts';
import { comparePair, type PairJudging } from '../../judge/pairwise.ts';
import { createAdapters } from '../../local/adapters.ts';
import type { CompareModel, PairwiseSpending } from '../../report/compare-text.ts';
import { summarisePairs } from '../../statistics/pairwise.ts';
import type { CommandContext } from '../context.ts';
import type { Database } from '../database.ts';
import { ExitSignal } from '../exit-signal.ts';
import { stopSignal } from '../stop-signal.ts';
import type { CompareFlags } from './compare-flags.ts';

interface Compared {
  before: EvaluationRow;
  now: EvaluationRow;
  flags: CompareFlags;
}

/** Judges the answers of two evaluations pair by pair, with the judge of the second one. */
export async function comparePairwise(
  context: CommandContext,
  database: Database,
  { before, now, flags }: Compared,
): Promise<NonNullable<CompareModel['pairwise']>> {
  const { judge } = now.definition;
  if (judge === null) {
    throw new UserError(`--pairwise: the suite of ${now.id} has no judge`, { hint: 'add `judge:` to the suite file' });
  }
  const interrupt = stopSignal({ onFirst: () => context.stderr('\nstopping …\n') });
  const adapters = createAdapters(database.config);
  const spent: PairwiseSpending = { calls: 0, tokens: 0, cost_usd: 0 };
  try {
    const clients = await judgeClients(adapters, now, judge);
    const judging = await judgingOf(database, now, {
      judge,
      signal: interrupt.signal,
      model: retrying(clients, now.definition, spent),
      cached: flags.judgeCache,
    });
    const pairs: PairVerdict[] = [];
    const lanes = flags.concurrency ?? now.concurrency;
    for await (const page of streamPairedAnswers(database.db, before.id, now.id, flags.limit ?? null)) {
      pairs.push(...(await judgePage(page, lanes, judging)));
      context.stderr(`${pairs.length} pairs compared\n`);
    }
    return { judge: judgeName(judge) ?? judge.model, result: summarisePairs(pairs), pairs, spent };
  } catch (error) {
    if (interrupt.signal.aborted) {
      context.stderr('what was judged is kept; the same command goes on with the rest\n');
      throw new ExitSignal(EXIT.interrupted);
    }
    throw error instanceof ModelError ? forUser(error) : error;
  } finally {
    await adapters.close();
    interrupt.dispose();
  }
}

function forUser(error: ModelError): UserError {
  return new UserError(`the judge could not be asked: ${error.kind}: ${error.message}`, {
    exitCode: EXIT.infrastructure,
    hint: stopsEvaluation(error.kind)
      ? 'mend that; what was judged is kept, the same command goes on with the rest'
      : 'what was judged is kept: the same command goes on with the rest',
    cause: error,
  });
}

async function judgeClients(
  adapters: ReturnType<typeof createAdapters>,
  now: EvaluationRow,
  judge: JudgeConfig,
): Promise<Map<string, ModelClient>> {
  const { offline_model } = now.definition;
  const offlineModel = now.offline && offline_model !== undefined ? path.resolve(now.suite_root, offline_model) : null;
  const clients = new Map<string, ModelClient>();
  for (const { model, base_url, api_key_env } of judgesOf(judge)) {
    const client = await adapters.modelClient({ baseUrl: base_url, apiKeyEnv: api_key_env, offlineModel });
    clients.set(model, withAcceptedParameters(client));
  }
  return clients;
}

async function judgingOf(
  { db, config }: Database,
  now: EvaluationRow,
  options: {
    judge: JudgeConfig;
    model: TrialModel;
    signal: AbortSignal;
    cached: boolean;
  },
): Promise<PairJudging> {
  const { judge, model, signal } = options;
  const folder = judge.prompts === undefined ? null : path.resolve(now.suite_root, judge.prompts);
  const addresses = new Map(judgesOf(judge).map((one) => [one.model, one.base_url ?? config.openaiBaseUrl ?? '']));
  return {
    config: judge,
    prompts: await loadPrompts(folder, judge.language),
    model,
    signal,
    timeoutMs: now.definition.limits.call_timeout_ms,
    endpointOf: (name) => addresses.get(name) ?? '',
    // The scripted model is free, and its file may change under the same name.
    cache:
      options.cached && !now.offline
        ? { lookup: createVerdictReader(db), keep: (entry) => keepVerdict(db, now.id, entry) }
        : null,
  };
}

/** Pairs of a page, so many at a time, in their order. The first failure ends it; the others come to rest first. */
async function judgePage(page: readonly PairedAnswers[], lanes: number, judging: PairJudging): Promise<PairVerdict[]> {
  const verdicts: PairVerdict[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < page.length) {
      const at = next++;
      const pair = page[at];
      if (pair === undefined) return;
      verdicts[at] = await comparePair(pair, judging).catch((error: unknown) => {
        // The other lanes take no further pair.
        next = page.length;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(lanes, page.length) }, lane));
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return verdicts;
}

/** The judges by model, what can pass asked again with growing waits, spending counted. */
function retrying(
  clients: ReadonlyMap<string, ModelClient>,
  { retry, prices }: Suite,
  spent: PairwiseSpending,
): TrialModel {
  const count = (reply: ModelReply, asked: string): void => {
    const cost = costOf(reply.usage, reply.model !== null && reply.model in prices ? reply.model : asked, prices);
    spent.calls += 1;
    spent.tokens = spent.tokens === null || reply.usage.total === null ? null : spent.tokens + reply.usage.total;
    spent.cost_usd = spent.cost_usd === null || cost === null ? null : spent.cost_usd + cost;
  };
  return {
    async complete(request, { signal, timeoutMs }) {
      const client = clients.get(request.model);
      if (client === undefined) throw new Error(`no judge of this suite is called ${request.model}`);
      for (let failures = 1; ; failures += 1) {
        if (signal.aborted) throw abortError(signal);
        try {
          const reply = await client.complete(request, { signal, timeoutMs });
          count(reply, request.model);
          return reply;
        } catch (error) {
          if (!(error instanceof ModelError) || !isRetried(error.kind) || failures >= retry.model_failures) throw error;
          const asked = error.retryAfterMs ?? retry.backoff_ms * 2 ** (failures - 1);
          await sleep(Math.min(asked, retry.max_retry_after_ms), signal);
        }
      }
    },
  };
}
