import type { SubAgentDefinition } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import { DISPATCH_TOOL, type OpenAiAgentConfig } from '../../core/suite.ts';
import type { PromptSegment, Trajectory } from '../../core/trajectory.ts';
import type { Agent, AgentInput } from '../agent.ts';
import { createRecorder, type Recorder } from '../recorder.ts';
import { abortError, sleep, type Sleep } from '../sleep.ts';
import { dispatchTool, SUB_AGENT_DEFAULTS, subAgentsOf } from '../sub-agents/definitions.ts';
import { createDispatcher, type Dispatcher } from '../sub-agents/dispatcher.ts';
import { createSubAgentRunner } from '../sub-agents/run-sub-agent.ts';
import { startTimeCap, type TimeCap } from '../time-cap.ts';
import { routeTools } from '../tool-router.ts';
import { createToolRunner } from '../tool-runner.ts';
import { type OpenToolSource, openTrialWorld, type TrialWorld } from '../trial-world.ts';
import {
  type ChatLoop,
  type ChatSettings,
  converse,
  createChatLoop,
  createTrialTokens,
  type Outcome,
  refusedBy,
  stopped,
} from './chat-loop.ts';
import { conversationOf } from './conversation.ts';
import { assemblePrompt } from './prompt-segments.ts';

export interface OpenAiAgentOptions {
  sleep?: Sleep;
  /** Tools from outside the mock world. Default none. */
  sources?: readonly OpenToolSource[];
}

/** One trial in progress. */
interface Trial {
  input: AgentInput;
  world: TrialWorld;
  recorder: Recorder;
  segments: PromptSegment[];
  dispatcher: Dispatcher;
  loop: ChatLoop;
}

/**
 * The built-in agent: a chat loop over an OpenAI-compatible endpoint with the case's tools, answered by the mock world,
 * and the sub-agents it may dispatch. See docs/agents.md for how a trial ends. Rejects as {@link Agent} says; caps,
 * refusals, a full context and the content filter are endings of the trajectory, not rejections.
 */
export function createOpenAiAgent(options: OpenAiAgentOptions = {}): Agent {
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'openai') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not openai`);
      }
      const pause = options.sleep ?? sleep;
      // What it takes to open the world (an MCP server that starts) is no part of the agent's time.
      const world = await openTrialWorld(input, { sleep: pause, sources: options.sources ?? [] });
      const cap = startTimeCap(input.signal, input.evalCase.timeout_ms ?? input.suite.limits.timeout_ms);
      let trial: Trial | undefined;
      try {
        trial = startTrial(input, config, { world, signal: cap.signal, sleep: pause });
        return finish(trial, await converse(trial.loop).catch((error: unknown) => endedBy(input, cap, error)));
      } finally {
        trial?.dispatcher.close();
        cap.dispose();
        await world.close();
      }
    },
  };
}

function startTrial(
  input: AgentInput,
  config: OpenAiAgentConfig,
  parts: { world: TrialWorld; signal: AbortSignal; sleep: Sleep },
): Trial {
  const { evalCase, suite } = input;
  const { world, signal } = parts;
  const subAgents = subAgentsOf(evalCase, suite);
  const dispatch = dispatchTool(subAgents);
  const tools = dispatch === null ? world.tools : [...world.tools, dispatch];
  const recorder = createRecorder(tools, input.now);
  const facts = { tools: world.tools, subAgents, maxSteps: suite.limits.max_iterations };
  const segments = assemblePrompt(evalCase, config, facts);
  const { messages, turns } = conversationOf(evalCase, config.system_prompt, segments);
  recorder.messages.push(...messages);
  const tokens = createTrialTokens();
  const settings = settingsOf(config, input.trialIndex);
  const dispatcher = dispatcherOf(input, { ...parts, subAgents, recorder, tokens, settings });
  const routed = routeTools(
    world.world,
    dispatch === null ? new Map() : new Map([[DISPATCH_TOOL, dispatcher.handler]]),
  );
  const runner = createToolRunner({ world: routed, recorder, tools, suite, signal });
  const loop = createChatLoop({
    settings,
    tools,
    recorder,
    runner,
    model: input.model,
    signal,
    path: '',
    caps: suite.limits,
    tokens,
    turns: [...turns],
  });
  return { input, world, recorder, segments, dispatcher, loop };
}

function dispatcherOf(
  input: AgentInput,
  parts: {
    world: TrialWorld;
    sleep: Sleep;
    subAgents: readonly SubAgentDefinition[];
    recorder: Recorder;
    tokens: ChatLoop['tokens'];
    settings: ChatSettings;
  },
): Dispatcher {
  const { world, subAgents, recorder } = parts;
  // A tool of the suite that the case does not offer may still be a sub-agent's.
  const offered = new Set(world.tools.map(({ name }) => name));
  const tools = [...world.tools, ...input.suite.tools.filter(({ name }) => !offered.has(name))];
  return createDispatcher({
    subAgents,
    maxDepth: input.suite.limits.max_sub_agent_depth ?? SUB_AGENT_DEFAULTS.maxDepth,
    recorder,
    runner: createSubAgentRunner({ ...parts, input, tools, world: world.world }),
    now: input.now,
  });
}

function settingsOf(config: OpenAiAgentConfig, trialIndex: number): ChatSettings {
  // Each repetition its own seed, so that trials differ and a retried trial does not.
  return config.seed === undefined ? config : { ...config, seed: config.seed + trialIndex - 1 };
}

function finish({ recorder, segments, dispatcher, world }: Trial, outcome: Outcome): Trajectory {
  dispatcher.close();
  return recorder.finish({ ...outcome, endState: world.world.state(), promptSegments: segments });
}

/**
 * The time cap and refusals of the agent's model end the trial with what there is; a cancel and anything else goes on up.
 */
function endedBy(input: AgentInput, cap: TimeCap, error: unknown): Outcome {
  if (input.signal.aborted) throw abortError(input.signal);
  if (cap.expired()) return stopped('TIMEOUT', `timeout_ms (${cap.ms} ms) is used up`);
  const refused = refusedBy(error);
  if (refused === null) throw error;
  return refused;
}
