import type { EndpointRequest } from '../activities/deps.ts';
import { type ClosableAgent, createAgent } from '../agents/index.ts';
import { trajectoryFromRecord } from '../scorers/trajectories/from-record.ts';
import { createModelClient } from '../agents/openai/openai-client.ts';
import type { Config } from '../config.ts';
import type { ModelClient } from '../core/model.ts';
import type { CustomScorerConfig, Suite } from '../core/suite.ts';
import { createCustomScorers, type CustomScorers } from '../custom-scorers/custom-scorers.ts';
import { startScriptedModel, type ScriptedModel } from '../scripted-model/server.ts';

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

export interface Adapters {
  modelClient: (request: EndpointRequest) => Promise<ModelClient>;
  createAgent: (suite: Suite, suiteRoot: string, endpoint: EndpointRequest) => Promise<ClosableAgent>;
  createScorers: (configs: readonly CustomScorerConfig[], suiteRoot: string) => CustomScorers;
  close(): Promise<void>;
}

interface Endpoint {
  baseUrl: string;
  apiKey: string | null;
  keyAdvice: string;
}

/** Model clients, agents and scripted models of one process, each made once and closed together. */
export function createAdapters(config: Config): Adapters {
  const clients = new Map<string, ModelClient>();
  const scripted = new Map<string, Promise<ScriptedModel>>();
  const agents = new Set<ClosableAgent>();
  const scorers = new Set<CustomScorers>();

  async function endpointOf(request: EndpointRequest): Promise<Endpoint> {
    if (request.offlineModel !== null) {
      const path = request.offlineModel;
      const running = scripted.get(path) ?? startScriptedModel({ scriptPath: path });
      scripted.set(path, running);
      return { baseUrl: (await running).url, apiKey: 'offline', keyAdvice: 'Correct the script of the offline model.' };
    }
    // A key read from a file often ends in a line break.
    const variable = request.apiKeyEnv ?? 'OPENAI_API_KEY';
    const apiKey = config.env[variable]?.trim() ?? '';
    return {
      baseUrl: request.baseUrl ?? config.openaiBaseUrl ?? DEFAULT_BASE_URL,
      apiKey: apiKey === '' ? null : apiKey,
      keyAdvice: keyAdvice(variable, apiKey !== '', config.hostName),
    };
  }

  return {
    async modelClient(request) {
      const key = JSON.stringify(request);
      const known = clients.get(key);
      if (known !== undefined) return known;
      const client = createModelClient(await endpointOf(request));
      clients.set(key, client);
      return client;
    },
    async createAgent(suite, suiteRoot, endpoint) {
      const target = await endpointOf(endpoint);
      const agent = createAgent(suite.agent, {
        suite,
        suiteRoot,
        env: config.env,
        baseUrl: target.baseUrl,
        apiKey: target.apiKey,
        readRecord: trajectoryFromRecord,
      });
      const closable: ClosableAgent = {
        run: (input) => agent.run(input),
        async close() {
          agents.delete(closable);
          await agent.close();
        },
      };
      agents.add(closable);
      return closable;
    },
    createScorers: (configs, suiteRoot) =>
      tracked(createCustomScorers(configs, { suiteRoot, env: config.env }), scorers),
    async close() {
      await Promise.allSettled([...scorers].map((made) => made.close()));
      await Promise.allSettled([...agents].map((agent) => agent.close()));
      await Promise.allSettled([...scripted.values()].map(async (server) => (await server).close()));
    },
  };
}

/** What to do when the key is refused. Local endpoints need none: that it is not set counts only then. */
function keyAdvice(variable: string, isSet: boolean, hostName: string): string {
  if (isSet) return `Set a valid key in ${variable}.`;
  return `${variable} is not set: set it where the command or worker is started (it was process ${process.pid} on ${hostName}).`;
}

/** Known to the process until they are let go of. */
function tracked(made: CustomScorers, all: Set<CustomScorers>): CustomScorers {
  const scorers: CustomScorers = {
    ...made,
    release() {
      all.delete(scorers);
      made.release();
    },
  };
  all.add(scorers);
  return scorers;
}
