import path from 'node:path';
import type { ModelClient } from '../core/model.ts';
import { judgesOf } from '../core/suite.ts';
import type { EvaluationRow } from '../db/evaluations.ts';
import { withAcceptedParameters } from '../judge/accepted-parameters.ts';
import type { PromptSet } from '../judge/prompt.ts';
import type { ActivityDeps } from './deps.ts';

/** The judge of an evaluation, as its trials share it in a worker. */
export interface JudgeContext {
  /** Serves every judge of a panel, by the model a request names. */
  model: ModelClient;
  prompts: PromptSet;
  /** Address that serves a judge's model; null: the verdict cache is not used. */
  endpointOf: ((model: string) => string) | null;
}

/** null: the suite has no judge. */
export async function loadJudge(
  deps: ActivityDeps,
  row: EvaluationRow,
  options: { offlineModel: string | null; guard: (client: ModelClient) => ModelClient },
): Promise<JudgeContext | null> {
  const { judge } = row.definition;
  if (judge === null) return null;
  const addresses = new Map<string, string>();
  const clients = new Map<string, ModelClient>();
  for (const { model, base_url, api_key_env } of judgesOf(judge)) {
    const { offlineModel } = options;
    const client = await deps.modelClient({ baseUrl: base_url, apiKeyEnv: api_key_env, offlineModel });
    clients.set(model, withAcceptedParameters(options.guard(client)));
    addresses.set(model, base_url ?? deps.config.openaiBaseUrl ?? '');
  }
  const folder = judge.prompts === undefined ? null : path.resolve(row.suite_root, judge.prompts);
  // The scripted model is free, and its file may change under the same name.
  const cached = row.judge_cache && !row.offline;
  return {
    model: byModel(clients),
    prompts: await deps.loadPrompts(folder, judge.language),
    endpointOf: cached ? (model) => addresses.get(model) ?? '' : null,
  };
}

/** One client for a panel: each request goes to the client of the model it names. */
function byModel(clients: ReadonlyMap<string, ModelClient>): ModelClient {
  return {
    complete(request, options) {
      const client = clients.get(request.model);
      if (client === undefined) throw new Error(`no judge of this suite is called ${request.model}`);
      return client.complete(request, options);
    },
  };
}
