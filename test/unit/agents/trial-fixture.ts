import type { AgentInput } from '../../../src/agents/agent.ts';
import type { Sleep } from '../../../src/agents/sleep.ts';
import type { EvalCase } from '../../../src/core/case.ts';
import type { Json } from '../../../src/core/json.ts';
import type { CallPlace, ModelReply, ModelRequest, TrialModel } from '../../../src/core/model.ts';
import type { Suite } from '../../../src/core/suite.ts';

export function suiteOf(part: Partial<Suite> = {}): Suite {
  return {
    name: 's',
    kind: 'smoke',
    datasets: [],
    tools: [{ name: 'get_order' }, { name: 'refund' }],
    fixtures: {},
    agent: { type: 'openai', model: 'm' },
    judge: null,
    tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'weighted' },
    trials: 1,
    concurrency: 4,
    limits: {
      max_iterations: 20,
      max_tokens: 200_000,
      max_tool_calls: 50,
      timeout_ms: 120_000,
      call_timeout_ms: 60_000,
    },
    retry: { model_failures: 5, worker_deaths: 5, max_retry_after_ms: 300_000, backoff_ms: 1_000 },
    safety: { forbidden_tools: [], high_risk_tools: [] },
    gates: [],
    gates_off: [],
    regression: { alert: 0.05, max_drop: 0.1, significance: 'off', alpha: 0.05, strict: false, label: 'main' },
    prices: {},
    labels: {},
    ...part,
  };
}

export function caseOf(part: Partial<EvalCase> = {}): EvalCase {
  return { id: 'case-id-canary', input: 'Refund order 88', expected: {}, ...part };
}

export function replyOf(part: Partial<ModelReply> = {}): ModelReply {
  return {
    content: null,
    refusal: null,
    tool_calls: [],
    finish_reason: 'stop',
    usage: { input: 10, cached: 0, output: 5, reasoning: 0, total: 15 },
    model: 'served',
    request_id: null,
    time_to_first_token_ms: null,
    ...part,
  };
}

export const text = (content: string): ModelReply => replyOf({ content });
export const calls = (...toolCalls: Json[]): ModelReply =>
  replyOf({ tool_calls: toolCalls, finish_reason: 'tool_calls' });
export const call = (name: string, args: Json | string, id: string | null = null): Json => ({
  id,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});

type Step = ModelReply | Error | ((request: ModelRequest, signal: AbortSignal) => Promise<ModelReply> | ModelReply);

/** Answers from a list; asked once more than it has answers, it fails the test by rejecting. */
export interface ScriptedTrialModel extends TrialModel {
  requests: ModelRequest[];
  places: CallPlace[];
}

export function scripted(...steps: Step[]): ScriptedTrialModel {
  const requests: ModelRequest[] = [];
  const places: CallPlace[] = [];
  return {
    requests,
    places,
    async complete(request, { place, signal }) {
      const step = steps[requests.length];
      requests.push(structuredClone(request));
      places.push(place);
      if (step === undefined) throw new Error(`the script has no reply number ${requests.length}`);
      if (step instanceof Error) throw step;
      return typeof step === 'function' ? step(request, signal) : step;
    },
  };
}

/** A clock that moves only when told, and a sleep that moves it. */
export function fakeTime(): { now: () => number; sleep: Sleep; advance: (ms: number) => void } {
  let now = 1_000;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    sleep: async (ms) => {
      const until = now + ms;
      await Promise.resolve();
      now = Math.max(now, until);
    },
  };
}

export function inputOf(part: Partial<AgentInput> & Pick<AgentInput, 'model'>): AgentInput {
  return {
    evalCase: caseOf(),
    trialIndex: 1,
    suite: suiteOf(),
    suiteRoot: '/suite',
    signal: new AbortController().signal,
    now: fakeTime().now,
    ...part,
  };
}
