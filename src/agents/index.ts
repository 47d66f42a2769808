import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../core/errors.ts';
import type { AgentConfig, Suite } from '../core/suite.ts';
import type { Agent, AgentInput } from './agent.ts';
import { createCommandAgent } from './command/command-agent.ts';
import { createHttpAgent } from './http/http-agent.ts';
import { createModuleAgent } from './module/module-agent.ts';
import { createModulePool } from './module/module-pool.ts';
import { startModuleProcess } from './module/module-process.ts';
import { toolsOf } from './openai/conversation.ts';
import { createOpenAiAgent } from './openai/openai-agent.ts';
import { createReplayAgent, type ReadRecord } from './replay/replay-agent.ts';
import { sleep, type Sleep } from './sleep.ts';
import { NO_TOOLS, type OpenToolSource } from './trial-world.ts';

/** What agents are made with. */
export interface AgentDeps {
  suite?: Pick<Suite, 'concurrency'>;
  /** Absolute folder of the suite file; a module that is not there is refused at once. */
  suiteRoot?: string;
  /** Environment of module processes, and where commands and services find what the suite names. Default: empty. */
  env?: Record<string, string | undefined>;
  /** Endpoint given to modules as `context.model`, and to commands with `model_access`. */
  baseUrl?: string;
  apiKey?: string | null;
  /** Most module processes at a time; default 16, and never more than the suite's concurrency. */
  maxProcesses?: number;
  /** Milliseconds after which a module process without a trial ends. Default 10,000. */
  idleMs?: number;
  /** Heap of one module process, megabytes. Default 512. */
  maxMemoryMb?: number;
  /** Receives what modules print. Default: dropped. */
  log?: (text: string) => void;
  sleep?: Sleep;
  /** Reads recorded trajectories; needed for agents of type `replay`. */
  readRecord?: ReadRecord;
}

/** An agent that may hold processes; `close` ends them, and it runs no trial afterwards. */
export interface ClosableAgent extends Agent {
  close(): Promise<void>;
}

const DEFAULT_MAX_PROCESSES = 16;

/**
 * The agent a suite names.
 * @throws {UserError} when a module's file does not exist.
 */
export function createAgent(config: AgentConfig, deps: AgentDeps = {}): ClosableAgent {
  switch (config.type) {
    case 'openai':
      return {
        ...createOpenAiAgent({ sleep: deps.sleep ?? sleep, sources: sourcesOf(deps) }),
        close: () => Promise.resolve(),
      };
    case 'module': {
      checkModule(config.path, deps.suiteRoot);
      const pool = createModulePool({
        start: () => startModuleProcess(processOptions(deps)),
        maxProcesses: deps.maxProcesses ?? DEFAULT_MAX_PROCESSES,
        ...(deps.idleMs === undefined ? {} : { idleMs: deps.idleMs }),
      });
      const model = deps.baseUrl === undefined ? null : { baseURL: deps.baseUrl, apiKey: deps.apiKey ?? null };
      return {
        ...createModuleAgent({ pool, sleep: deps.sleep ?? sleep, model, sources: sourcesOf(deps) }),
        close: () => pool.close(),
      };
    }
    case 'http':
      return {
        ...createHttpAgent({ sleep: deps.sleep ?? sleep, env: deps.env ?? {}, sources: sourcesOf(deps) }),
        close: () => Promise.resolve(),
      };
    case 'command':
      return createCommandAgent({
        sleep: deps.sleep ?? sleep,
        env: deps.env ?? {},
        sources: sourcesOf(deps),
        model: deps.baseUrl === undefined ? null : { baseUrl: deps.baseUrl, apiKey: deps.apiKey ?? null },
      });
    case 'a2a':
      return a2aAgent(deps);
    case 'replay': {
      if (deps.readRecord === undefined) throw new Error('a replay agent needs readRecord');
      return { ...createReplayAgent({ readRecord: deps.readRecord }), close: () => Promise.resolve() };
    }
  }
}

/** Speaking A2A takes libraries that most suites have no use for: they are loaded by the first trial. */
function a2aAgent(deps: AgentDeps): ClosableAgent {
  let agent: Promise<Agent> | null = null;
  const load = async (): Promise<Agent> => {
    const { createA2aAgent } = await import('./a2a/a2a-agent.ts');
    return createA2aAgent({ sleep: deps.sleep ?? sleep, env: deps.env ?? {}, sources: sourcesOf(deps) });
  };
  return { run: async (input) => (await (agent ??= load())).run(input), close: () => Promise.resolve() };
}

/** Tools from outside the mock world: remote agents and MCP servers. Their libraries too are loaded by who uses them. */
function sourcesOf(deps: AgentDeps): OpenToolSource[] {
  const env = deps.env ?? {};
  return [
    whereUsed(
      ({ evalCase, suite }) => toolsOf(evalCase, suite).some((tool) => tool.a2a !== undefined),
      async () => (await import('./a2a/a2a-tool.ts')).openA2aTools({ sleep: deps.sleep ?? sleep, env }),
    ),
    whereUsed(
      ({ suite }) => (suite.mcp ?? []).length > 0,
      async () => (await import('./mcp/mcp-tools.ts')).createMcpTools({ env }),
    ),
  ];
}

function whereUsed(isUsed: (input: AgentInput) => boolean, load: () => Promise<OpenToolSource>): OpenToolSource {
  let source: Promise<OpenToolSource> | null = null;
  return async (input) => (isUsed(input) ? (await (source ??= load()))(input) : NO_TOOLS);
}

function processOptions(deps: AgentDeps): Parameters<typeof startModuleProcess>[0] {
  return {
    ...(deps.maxMemoryMb === undefined ? {} : { maxMemoryMb: deps.maxMemoryMb }),
    env: deps.env ?? {},
    ...(deps.log === undefined ? {} : { log: deps.log }),
  };
}

function checkModule(path: string, suiteRoot: string | undefined): void {
  if (suiteRoot === undefined || existsSync(resolve(suiteRoot, path))) return;
  throw new UserError(`there is no agent module ${resolve(suiteRoot, path)}`, {
    hint: 'agent.path is relative to the suite file; every worker needs the file.',
  });
}
