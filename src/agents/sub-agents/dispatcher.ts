import type { SubAgentDefinition } from '../../core/case.ts';
import { NO_USAGE, type SubAgentRun, type ToolCall } from '../../core/trajectory.ts';
import type { ToolOutcome } from '../mock/mock-world.ts';
import type { Recorder } from '../recorder.ts';
import type { ToolHandler } from '../tool-router.ts';
import { SUB_AGENT_DEFAULTS } from './definitions.ts';
import { type DispatchRequest, inputOfDispatch, readDispatch } from './read-dispatch.ts';

/** How one dispatch ended. */
export interface SubAgentEnd {
  status: SubAgentRun['final_status'];
  reason: string | null;
  /** What goes back to the dispatcher; null when nothing. */
  output: string | null;
  timedOut: boolean;
}

/** One dispatch that is to run. */
export interface Dispatch {
  definition: SubAgentDefinition;
  /** The record; who runs it fills in messages, calls and usage as they come. */
  run: SubAgentRun & { id: string };
  /** 1 for one dispatched by the agent. */
  depth: number;
  signal: AbortSignal;
  /** Answers the dispatches this sub-agent makes itself; null when it may make none. */
  nested: ToolHandler | null;
}

/** What has run so far and is to be said of a run that has ended, or was left. */
export interface RunFacts {
  replies: number;
  unmatched: readonly string[];
}

/**
 * Runs a dispatch to its end, in a context of its own. Rejects for infrastructure failures and an aborted signal; the
 * trial's end, whatever the cause, calls `settle` for runs still under way.
 */
export interface SubAgentRunner {
  run(dispatch: Dispatch): Promise<SubAgentEnd>;
  /** Brings the record of a run up to date. */
  settle(run: SubAgentRun): RunFacts;
}

export interface DispatcherOptions {
  subAgents: readonly SubAgentDefinition[];
  /** Deepest dispatch; 1 = only the agent dispatches. */
  maxDepth: number;
  recorder: Recorder;
  runner: SubAgentRunner;
  now: () => number;
}

/** The dispatches of one trial. */
export interface Dispatcher {
  /** The agent's own dispatch tool. */
  readonly handler: ToolHandler;
  /** Ends what still runs; the records say CANCELED. Call it before the trajectory is finished. */
  close(): void;
}

interface Trial extends DispatcherOptions {
  /** Dispatches by name, blocked ones left out. */
  counts: Map<string, number>;
  open: Set<SubAgentRun>;
  over: AbortController;
}

/** Made once: the stack of an error costs more than a trial without sub-agents has to close. */
const TRIAL_OVER = new Error('the trial is over');

/**
 * Counts, records and bounds the dispatches of a trial. Names that are not declared or not allowed here, more than
 * `max_dispatches` of one name in the trial, and more than `maxDepth` levels are refused and recorded as blocked.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const trial: Trial = { ...options, counts: new Map(), open: new Set(), over: new AbortController() };
  return {
    handler: dispatchHandler(trial, null, options.subAgents),
    close() {
      for (const run of trial.open)
        end(trial, run, { status: 'CANCELED', reason: null, output: null, timedOut: false });
      trial.over.abort(TRIAL_OVER);
    },
  };
}

interface Parent {
  id: string;
  depth: number;
}

function dispatchHandler(trial: Trial, parent: Parent | null, allowed: readonly SubAgentDefinition[]): ToolHandler {
  let dispatched = 0;
  return async (args, signal, call) => {
    const request = readDispatch(args);
    if (typeof request === 'string') return failed('invalid_dispatch', request);
    dispatched += 1;
    const definition = allowed.find(({ name }) => name === request.name);
    // The number counts this dispatcher's own: parallel dispatchers must not change each other's places in the journal.
    const id = `${parent === null ? '' : `${parent.id}/`}${segmentOf(request.name)}#${dispatched}`;
    const run = openRun(trial, { id, parent, call, request, definition });
    trial.recorder.subAgent(run);
    const depth = (parent?.depth ?? 0) + 1;
    const blocked = blockedBy(trial, request.name, definition, depth, allowed);
    if (blocked !== null || definition === undefined) {
      run.blocked = blocked;
      run.final_status = 'FAILED';
      return failed('dispatch_blocked', `${request.name} was not dispatched: ${blocked}`);
    }
    trial.counts.set(request.name, (trial.counts.get(request.name) ?? 0) + 1);
    trial.open.add(run);
    const wanted = new Set(definition.sub_agents);
    const nested = trial.subAgents.filter(({ name }) => wanted.has(name));
    const ended = await trial.runner.run({
      definition,
      run,
      depth,
      signal: AbortSignal.any([signal, trial.over.signal]),
      nested: nested.length === 0 ? null : dispatchHandler(trial, { id, depth }, nested),
    });
    end(trial, run, ended);
    return outcomeOf(request.name, ended);
  };
}

/** A name as part of an id. The model may name what it likes: one with / or # must not read as a place further down. */
function segmentOf(name: string): string {
  return name.replaceAll(/[%#/]/g, encodeURIComponent);
}

function openRun(
  trial: Trial,
  facts: {
    id: string;
    parent: Parent | null;
    call: ToolCall;
    request: DispatchRequest;
    definition: SubAgentDefinition | undefined;
  },
): SubAgentRun & { id: string } {
  const { definition, request } = facts;
  const at = trial.now();
  return {
    name: request.name,
    input: inputOfDispatch(request),
    output: null,
    final_status: 'CANCELED',
    tool_calls: [],
    usage: NO_USAGE,
    id: facts.id,
    parent: facts.parent?.id ?? null,
    dispatch_call_index: facts.call.index,
    messages: [],
    allowed_tools: definition?.tools ?? [],
    passed_context: request.context,
    timeout_ms: definition === undefined ? null : (definition.timeout_ms ?? SUB_AGENT_DEFAULTS.timeoutMs),
    timed_out: false,
    blocked: null,
    started_at_ms: at,
    ended_at_ms: at,
  };
}

function blockedBy(
  trial: Trial,
  name: string,
  definition: SubAgentDefinition | undefined,
  depth: number,
  allowed: readonly SubAgentDefinition[],
): string | null {
  if (definition === undefined)
    return `not declared here; the sub-agents are ${allowed.map((one) => one.name).join(', ')}`;
  if (depth > trial.maxDepth) return `max_sub_agent_depth (${trial.maxDepth}) is reached`;
  const most = definition.max_dispatches ?? SUB_AGENT_DEFAULTS.maxDispatches;
  return (trial.counts.get(name) ?? 0) >= most ? `max_dispatches (${most}) is reached` : null;
}

/** A run that is closed already, because the trial is over, is left as it was recorded. */
function end(trial: Trial, run: SubAgentRun, ended: SubAgentEnd): void {
  if (!trial.open.delete(run)) return;
  const facts = trial.runner.settle(run);
  run.final_status = ended.status;
  run.output = ended.output;
  run.timed_out = ended.timedOut;
  run.ended_at_ms = trial.now();
  trial.recorder.subAgentEnded(run, facts);
}

/** What the dispatcher is told: the result alone, whatever the sub-agent said on the way. */
function outcomeOf(name: string, { status, reason, output }: SubAgentEnd): ToolOutcome {
  if (status === 'FAILED' || status === 'MAX_ITERATIONS') {
    return failed('sub_agent_failed', `${name} ended ${status}${reason === null ? '' : `: ${reason}`}`);
  }
  const result =
    status === 'COMPLETED' ? (output ?? '') : { status, result: output, ...(reason === null ? {} : { reason }) };
  return { result, error: null, unmatched: false };
}

function failed(kind: string, message: string): ToolOutcome {
  return { result: null, error: { kind, message }, unmatched: false };
}
