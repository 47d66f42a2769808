import path from 'node:path';
import type { ModelClient } from '../core/model.ts';
import type { CustomScorers } from '../custom-scorers/custom-scorers.ts';
import { atLeast } from '../core/score.ts';
import type { Suite } from '../core/suite.ts';
import { findEvaluation } from '../db/evaluations.ts';
import { loadSpend, type Spend } from '../db/spend.ts';
import { whileTransient } from '../db/transient.ts';
import { type AgentLease, createAgentLease } from './agent-lease.ts';
import { createBreaker, guardAgent } from './breaker.ts';
import type { ActivityDeps, EndpointRequest } from './deps.ts';
import { type JudgeContext, loadJudge } from './judge-context.ts';

/** What the trials of one evaluation share in a worker. */
export interface EvaluationContext {
  suite: Suite;
  suiteRoot: string;
  failFast: boolean;
  /** Money is bounded: that of a trial has to be stored before the next begins. */
  budgeted: boolean;
  agent: AgentLease;
  agentModel: ModelClient;
  judge: JudgeContext | null;
  /** Scorers of the suite's own; null: there are none. */
  scorers: CustomScorers | null;
  /** The evaluation whose trajectories are scored in place of running the agent; null: the agent runs. */
  sourceId: string | null;
  /** True once the budget is spent; asks Postgres at most once a second. */
  overBudget(): Promise<boolean>;
}

const SPEND_CHECK_MS = 1_000;
const REMEMBERED = 20;

interface Remembered {
  evaluationId: string;
  revision: number;
  loading: Promise<EvaluationContext>;
  /** null while it loads. */
  loaded: EvaluationContext | null;
}

/**
 * Loads an evaluation once a worker and revision. A newer revision takes the place of the older ones; beyond 20
 * evaluations those asked for longest ago are forgotten, unless trials of theirs are under way. What is forgotten lets
 * go of its agent and scorers.
 */
export function createContexts(
  deps: ActivityDeps,
  load: (deps: ActivityDeps, evaluationId: string) => Promise<EvaluationContext> = loadContext,
): (evaluationId: string, revision: number) => Promise<EvaluationContext> {
  const contexts = new Map<string, Remembered>();

  function forget(key: string, entry: Remembered): void {
    if (contexts.get(key) === entry) contexts.delete(key);
    entry.loading.then(
      (context) => {
        context.agent.release();
        context.scorers?.release();
      },
      // There is nothing to let go of; who asked was told.
      () => undefined,
    );
  }

  function makeRoom(latest: Remembered): void {
    for (const [key, entry] of contexts) {
      const older = entry.evaluationId === latest.evaluationId && entry.revision < latest.revision;
      const idle = entry !== latest && entry.loaded !== null && entry.loaded.agent.running() === 0;
      if (older || (contexts.size > REMEMBERED && idle)) forget(key, entry);
    }
  }

  return (evaluationId, revision) => {
    const key = `${evaluationId} ${revision}`;
    const known = contexts.get(key);
    if (known !== undefined) {
      // The order of the map is the order of last use.
      contexts.delete(key);
      contexts.set(key, known);
      return known.loading;
    }
    const entry: Remembered = { evaluationId, revision, loading: load(deps, evaluationId), loaded: null };
    contexts.set(key, entry);
    entry.loading.then(
      (context) => {
        entry.loaded = context;
      },
      () => {
        if (contexts.get(key) === entry) contexts.delete(key);
      },
    );
    makeRoom(entry);
    return entry.loading;
  };
}

async function loadContext(deps: ActivityDeps, evaluationId: string): Promise<EvaluationContext> {
  const row = await whileTransient(() => findEvaluation(deps.db, evaluationId));
  if (row === null) throw new Error(`there is no evaluation ${evaluationId} in this worker's database`);
  const suite = row.definition;
  const offlineModel =
    row.offline && suite.offline_model !== undefined ? path.resolve(row.suite_root, suite.offline_model) : null;
  const endpoint: EndpointRequest = {
    baseUrl: suite.agent.type === 'openai' ? suite.agent.base_url : undefined,
    apiKeyEnv: suite.agent.type === 'openai' ? suite.agent.api_key_env : undefined,
    offlineModel,
  };
  const breaker = { graceMs: deps.config.endpointGraceMs, now: deps.clock };
  const guard = (client: ModelClient): ModelClient => createBreaker(client, breaker);
  return {
    suite,
    suiteRoot: row.suite_root,
    failFast: row.fail_fast,
    budgeted: row.budget_usd !== null,
    agent:
      row.source_evaluation_id === null
        ? guarded(suite, await createAgentLease(() => deps.createAgent(suite, row.suite_root, endpoint)), breaker)
        : NO_AGENT,
    agentModel: guard(await deps.modelClient(endpoint)),
    judge: await loadJudge(deps, row, { offlineModel, guard }),
    scorers: (suite.scorers ?? []).length === 0 ? null : deps.createScorers(suite.scorers ?? [], row.suite_root),
    sourceId: row.source_evaluation_id,
    overBudget: budgetCheck(deps, evaluationId, row.budget_usd),
  };
}

/**
 * Nobody listening at the agent's address, or at that of a remote tool, or a refused token, is no failure of one trial. Only
 * of an agent that is a service of its own, or begins by asking an MCP server, does the first trial go alone: the others'
 * model has a breaker that sees to it.
 */
function guarded({ agent, mcp = [] }: Suite, lease: AgentLease, options: Parameters<typeof guardAgent>[1]): AgentLease {
  const asksServers = mcp.some(({ url, mode }) => url !== undefined && mode !== 'replay');
  return guardAgent(lease, { ...options, alone: asksServers || agent.type === 'http' || agent.type === 'a2a' });
}

/** The agent of an evaluation that scores stored trajectories: it is neither loaded nor run. */
const NO_AGENT: AgentLease = {
  run: () => Promise.reject(new Error('this evaluation scores stored trajectories; it has no agent to run')),
  running: () => 0,
  release: () => undefined,
};

function budgetCheck(deps: ActivityDeps, evaluationId: string, budget: number | null): () => Promise<boolean> {
  if (budget === null) return () => Promise.resolve(false);
  let checkedAt = Number.NEGATIVE_INFINITY;
  let over: Promise<boolean> = Promise.resolve(false);
  let known: Spend | null = null;
  const look = async (): Promise<boolean> => {
    known = await whileTransient(() => loadSpend(deps.db, evaluationId, known));
    return atLeast(known.total, budget);
  };
  return () => {
    if (deps.clock() - checkedAt >= SPEND_CHECK_MS) {
      checkedAt = deps.clock();
      over = look();
    }
    return over;
  };
}
