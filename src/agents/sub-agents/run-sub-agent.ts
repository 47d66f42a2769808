import type { SubAgentDefinition, ToolDefinition } from '../../core/case.ts';
import { DISPATCH_TOOL } from '../../core/suite.ts';
import type { SubAgentRun } from '../../core/trajectory.ts';
import type { AgentInput } from '../agent.ts';

import {
  type ChatSettings,
  converse,
  createChatLoop,
  type Outcome,
  refusedBy,
  stopped,
  type TrialTokens,
} from '../openai/chat-loop.ts';
import { userMessage } from '../openai/conversation.ts';
import { createRecorder, type Recorder } from '../recorder.ts';
import { abortError, type Sleep } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import { routeTools, type ToolWorld } from '../tool-router.ts';
import { createToolRunner, type ToolRunner } from '../tool-runner.ts';
import { dispatchTool, SUB_AGENT_DEFAULTS } from './definitions.ts';
import type { Dispatch, RunFacts, SubAgentEnd, SubAgentRunner } from './dispatcher.ts';

export interface SubAgentRunnerOptions {
  input: Pick<AgentInput, 'model' | 'suite' | 'now'>;
  /** Of the agent; a sub-agent's own model takes the place of its model. */
  settings: ChatSettings;
  subAgents: readonly SubAgentDefinition[];
  /** Every tool a sub-agent may name. */
  tools: readonly ToolDefinition[];
  /** Shared by the trial: what a sub-agent changes there, the agent sees. */
  world: ToolWorld;
  tokens: TrialTokens;
  sleep: Sleep;
}

/** A run under way. */
interface Running {
  recorder: Recorder;
  runner: ToolRunner;
  tools: ToolDefinition[];
}

/**
 * Sub-agents on the agent's endpoint, each dispatch with messages, calls, approvals and time of its own. One with a
 * `mock` does what that says and asks no model.
 */
export function createSubAgentRunner(options: SubAgentRunnerOptions): SubAgentRunner {
  const running = new Map<SubAgentRun, Running>();
  return {
    async run(dispatch) {
      const { definition, run, signal } = dispatch;
      const cap = startTimeCap(signal, definition.timeout_ms ?? SUB_AGENT_DEFAULTS.timeoutMs);
      const work = start(options, dispatch, cap.signal);
      running.set(run, work);
      try {
        const outcome = await (definition.mock === undefined
          ? askModel(options, dispatch, work, cap.signal)
          : simulate(options, definition.mock, work, cap.signal));
        return endOf(outcome);
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        if (cap.expired()) return cutOff(work, cap.ms);
        const refused = refusedBy(error);
        if (refused === null) throw error;
        return endOf(refused);
      } finally {
        cap.dispose();
      }
    },
    settle: (run) => settle(run, running.get(run)),
  };
}

function start(options: SubAgentRunnerOptions, dispatch: Dispatch, signal: AbortSignal): Running {
  const { definition, nested, run } = dispatch;
  const tools = toolsOfRun(options, definition, nested !== null);
  const recorder = createRecorder(tools, options.input.now);
  recorder.messages.push({ role: 'system', content: systemPromptOf(definition) }, userMessage(run.input));
  const world = nested === null ? options.world : routeTools(options.world, new Map([[DISPATCH_TOOL, nested]]));
  const runner = createToolRunner({ world, recorder, tools, suite: options.input.suite, signal });
  return { recorder, runner, tools };
}

function toolsOfRun(
  options: SubAgentRunnerOptions,
  definition: SubAgentDefinition,
  dispatches: boolean,
): ToolDefinition[] {
  const own = (definition.tools ?? []).map((name) => options.tools.find((tool) => tool.name === name) ?? { name });
  const below = new Set(definition.sub_agents);
  const dispatch = dispatches ? dispatchTool(options.subAgents.filter(({ name }) => below.has(name))) : null;
  return dispatch === null ? own : [...own, dispatch];
}

function systemPromptOf({ name, description, system_prompt }: SubAgentDefinition): string {
  if (system_prompt !== undefined) return system_prompt;
  return `You are the sub-agent ${name}.${description === undefined ? '' : ` ${description}`}\nDo the task and reply with the result.`;
}

function askModel(
  options: SubAgentRunnerOptions,
  { definition, run }: Dispatch,
  { recorder, runner, tools }: Running,
  signal: AbortSignal,
): Promise<Outcome> {
  const { input, settings, tokens } = options;
  return converse(
    createChatLoop({
      settings: { ...settings, model: definition.model ?? settings.model },
      tools,
      recorder,
      runner,
      model: input.model,
      signal,
      path: run.id,
      caps: {
        ...input.suite.limits,
        max_iterations: definition.max_iterations ?? SUB_AGENT_DEFAULTS.maxIterations,
      },
      tokens,
      turns: [],
    }),
  );
}

async function simulate(
  options: SubAgentRunnerOptions,
  mock: NonNullable<SubAgentDefinition['mock']>,
  { recorder, runner }: Running,
  signal: AbortSignal,
): Promise<Outcome> {
  for (const [turn, { tool, args = {} }] of (mock.calls ?? []).entries()) {
    await runner.run({ id: null, tool, args, rawArguments: null, malformed: null }, turn);
  }
  if (mock.delay_ms !== undefined) await options.sleep(mock.delay_ms, signal);
  if (mock.fail !== undefined) return stopped('FAILED', mock.fail);
  const answer = mock.result ?? '';
  recorder.messages.push({ role: 'assistant', content: answer });
  return { status: 'COMPLETED', reason: null, answer };
}

function endOf({ status, reason, answer }: Outcome): SubAgentEnd {
  return { status, reason, output: answer, timedOut: false };
}

/** Past its time: what it said last is what there is. */
function cutOff({ recorder }: Running, ms: number): SubAgentEnd {
  const said = recorder.messages.findLast(({ role, content }) => role === 'assistant' && content !== null);
  return {
    status: 'PARTIAL_SUCCESS',
    reason: `timeout_ms (${ms} ms) is used up`,
    output: said?.content ?? null,
    timedOut: true,
  };
}

function settle(run: SubAgentRun, work: Running | undefined): RunFacts {
  if (work === undefined) return { replies: 0, unmatched: [] };
  const nothing = { status: 'CANCELED', reason: null, answer: null, endState: null } as const;
  const { tool_calls, usage, messages, model_calls, unmatched_calls } = work.recorder.finish(nothing);
  run.tool_calls = tool_calls;
  run.messages = messages;
  run.usage = usage;
  return { replies: model_calls, unmatched: unmatched_calls.map(({ tool }) => tool) };
}
