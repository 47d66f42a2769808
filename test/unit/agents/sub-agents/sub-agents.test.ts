import { describe, expect, test } from 'vitest';
import { createOpenAiAgent } from '../../../../src/agents/openai/openai-agent.ts';
import type { EvalCase, SubAgentDefinition } from '../../../../src/core/case.ts';
import { ModelError } from '../../../../src/core/errors.ts';
import type { Json } from '../../../../src/core/json.ts';
import type { ModelReply, ModelRequest } from '../../../../src/core/model.ts';
import type { Suite } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { call, calls, caseOf, inputOf, replyOf, type ScriptedTrialModel, suiteOf, text } from '../trial-fixture.ts';

type Answer = ModelReply | Error | ((request: ModelRequest, signal: AbortSignal) => Promise<ModelReply>);

/** A model that answers each conversation by its place in the journal, in order. */
function byPath(scripts: Record<string, Answer[]>): ScriptedTrialModel {
  const requests: ScriptedTrialModel['requests'] = [];
  const places: ScriptedTrialModel['places'] = [];
  return {
    requests,
    places,
    async complete(request, { place, signal }) {
      requests.push(structuredClone(request));
      places.push(place);
      const answer = scripts[place.path]?.[place.sequence];
      if (answer === undefined) throw new Error(`no reply ${place.sequence} for ${JSON.stringify(place.path)}`);
      if (answer instanceof Error) throw answer;
      return typeof answer === 'function' ? answer(request, signal) : answer;
    },
  };
}

const dispatch = (name: string, task = 'look it up', more: Record<string, Json> = {}): Json =>
  call('dispatch_sub_agent', { name, task, ...more });

/** Answers only when it is given up. */
const never = (_: ModelRequest, signal: AbortSignal): Promise<ModelReply> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new ModelError('aborted', 'aborted')), { once: true });
  });

const RESEARCHER: SubAgentDefinition = { name: 'researcher', description: 'Finds orders.', tools: ['get_order'] };

async function run(
  scripts: Record<string, Answer[]>,
  subAgents: SubAgentDefinition[],
  options: { suite?: Partial<Suite>; evalCase?: Partial<EvalCase> } = {},
): Promise<{ trajectory: Trajectory; model: ScriptedTrialModel }> {
  const model = byPath(scripts);
  const evalCase = caseOf({
    mock: { tools: [{ tool: 'get_order', replies: [{ result: { id: 88 } }] }] },
    ...options.evalCase,
  });
  const suite = suiteOf({ sub_agents: subAgents, ...options.suite });
  return { trajectory: await createOpenAiAgent().run(inputOf({ model, evalCase, suite })), model };
}

const dispatched = ({ tool_calls }: Trajectory) => tool_calls.map(({ result, error }) => error?.kind ?? result);

describe('a dispatch', () => {
  test('runs with messages, calls and tokens of its own; only its result reaches the agent', async () => {
    const { trajectory, model } = await run(
      {
        '': [calls(dispatch('researcher', 'Find order 88')), text('It is order 88.')],
        'researcher#1': [calls(call('get_order', { order: 88 })), text('order 88 exists')],
      },
      [RESEARCHER],
      { evalCase: { input: 'MAIN-SECRET: what is order 88?' } },
    );
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      answer: 'It is order 88.',
      iterations: 2,
      model_calls: 4,
    });
    expect(trajectory.usage.total).toBe(60);
    expect(trajectory.tool_calls.map(({ tool, result }) => [tool, result])).toEqual([
      ['dispatch_sub_agent', 'order 88 exists'],
    ]);
    const [subRun] = trajectory.sub_agents;
    expect(subRun).toMatchObject({
      name: 'researcher',
      id: 'researcher#1',
      parent: null,
      dispatch_call_index: 0,
      input: 'Find order 88',
      output: 'order 88 exists',
      final_status: 'COMPLETED',
      allowed_tools: ['get_order'],
      blocked: null,
      timed_out: false,
      usage: { total: 30 },
    });
    expect(subRun?.tool_calls.map(({ tool, args }) => [tool, args])).toEqual([['get_order', { order: 88 }]]);
    expect(JSON.stringify(subRun?.messages)).not.toContain('MAIN-SECRET');
    expect(JSON.stringify(trajectory.messages)).not.toContain('get_order');
    const offered = model.requests.map(({ tools }) => tools?.map(({ name }) => name));
    expect(offered).toEqual([
      ['get_order', 'refund', 'dispatch_sub_agent'],
      ['get_order'],
      ['get_order'],
      ['get_order', 'refund', 'dispatch_sub_agent'],
    ]);
    expect(model.requests[0]?.tools?.at(-1)?.description).toContain('researcher: Finds orders.');
  });

  test('hands over context on purpose, and says which', async () => {
    const { trajectory } = await run(
      { '': [calls(dispatch('researcher', 'go', { context: ['order 88'] })), text('x')], 'researcher#1': [text('y')] },
      [RESEARCHER],
    );
    expect(trajectory.sub_agents[0]).toMatchObject({
      input: 'go\n\nContext:\n\norder 88',
      passed_context: ['order 88'],
    });
  });

  test('a tool outside its list is refused', async () => {
    const { trajectory } = await run(
      {
        '': [calls(dispatch('researcher')), text('done')],
        'researcher#1': [calls(call('refund', {})), text('could not')],
      },
      [RESEARCHER],
    );
    expect(trajectory.sub_agents[0]?.tool_calls[0]).toMatchObject({ tool: 'refund', error: { kind: 'unknown_tool' } });
  });

  test('past its timeout it is PARTIAL_SUCCESS with what it had said, and the agent goes on', async () => {
    const said = replyOf({
      content: 'still looking',
      tool_calls: [call('get_order', {})],
      finish_reason: 'tool_calls',
    });
    const { trajectory } = await run(
      { '': [calls(dispatch('researcher')), text('I only know part.')], 'researcher#1': [said, never] },
      [{ ...RESEARCHER, timeout_ms: 30 }],
    );
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'I only know part.' });
    expect(trajectory.sub_agents[0]).toMatchObject({
      final_status: 'PARTIAL_SUCCESS',
      timed_out: true,
      output: 'still looking',
      timeout_ms: 30,
    });
    expect(trajectory.tool_calls[0]?.result).toMatchObject({ status: 'PARTIAL_SUCCESS', result: 'still looking' });
    expect(trajectory.tool_calls[0]?.error).toBeNull();
  });

  test('one more than max_dispatches, an undeclared name and a call without a task are refused, and recorded', async () => {
    const { trajectory, model } = await run(
      {
        '': [
          calls(dispatch('researcher'), dispatch('researcher'), dispatch('translator'), dispatch('researcher', ' ')),
          text('once only'),
        ],
        'researcher#1': [text('found')],
      },
      [{ ...RESEARCHER, max_dispatches: 1 }],
    );
    expect(dispatched(trajectory)).toEqual(['found', 'dispatch_blocked', 'dispatch_blocked', 'invalid_dispatch']);
    expect(trajectory.sub_agents.map(({ name, blocked, final_status }) => [name, blocked, final_status])).toEqual([
      ['researcher', null, 'COMPLETED'],
      ['researcher', 'max_dispatches (1) is reached', 'FAILED'],
      ['translator', 'not declared here; the sub-agents are researcher', 'FAILED'],
    ]);
    expect(model.places.filter(({ path }) => path !== '').map(({ path }) => path)).toEqual(['researcher#1']);
  });

  test('R10: one that never stops calling tools ends MAX_ITERATIONS, named, and the agent goes on', async () => {
    const again = Array.from({ length: 4 }, () => calls(call('get_order', {})));
    const { trajectory } = await run({ '': [calls(dispatch('researcher')), text('gave up')], 'researcher#1': again }, [
      { ...RESEARCHER, max_iterations: 3 },
    ]);
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', model_calls: 5 });
    expect(trajectory.sub_agents[0]).toMatchObject({ final_status: 'MAX_ITERATIONS' });
    expect(trajectory.tool_calls[0]?.error).toEqual({
      kind: 'sub_agent_failed',
      message: 'researcher ended MAX_ITERATIONS: max_iterations (3) is reached',
    });
  });

  test('R10: its tokens count for the trial', async () => {
    const { trajectory } = await run(
      { '': [calls(dispatch('researcher'))], 'researcher#1': [calls(call('get_order', {}))] },
      [RESEARCHER],
      { suite: { limits: { ...suiteOf().limits, max_tokens: 30 } } },
    );
    expect(trajectory.sub_agents[0]?.final_status).toBe('MAX_ITERATIONS');
    expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', usage: { total: 30 } });
  });

  test('a refusal of its model is its own failure; a failing endpoint is the trial’s', async () => {
    const full = await run(
      {
        '': [calls(dispatch('researcher')), text('x')],
        'researcher#1': [new ModelError('context_length', 'too long')],
      },
      [RESEARCHER],
    );
    expect(full.trajectory.sub_agents[0]?.final_status).toBe('FAILED');
    const down = run({ '': [calls(dispatch('researcher'))], 'researcher#1': [new ModelError('server_error', '500')] }, [
      RESEARCHER,
    ]);
    await expect(down).rejects.toMatchObject({ kind: 'server_error' });
  });

  test('the trial’s end ends what still runs, and records it', async () => {
    const { trajectory } = await run(
      { '': [calls(dispatch('researcher'))], 'researcher#1': [calls(call('get_order', { order: 1 })), never] },
      [RESEARCHER],
      { evalCase: { timeout_ms: 40 } },
    );
    expect(trajectory.final_status).toBe('TIMEOUT');
    expect(trajectory.sub_agents[0]).toMatchObject({ final_status: 'CANCELED', usage: { total: 15 } });
    expect(trajectory.sub_agents[0]?.tool_calls).toHaveLength(1);
    expect(trajectory.model_calls).toBe(2);
  });

  test('calls of a sub-agent that no fixture answers are the trial’s unmatched calls', async () => {
    const { trajectory } = await run(
      { '': [calls(dispatch('researcher')), text('x')], 'researcher#1': [calls(call('get_order', {})), text('y')] },
      [RESEARCHER],
      { evalCase: { mock: {} } },
    );
    expect(trajectory.unmatched_calls).toEqual([{ index: 0, tool: 'get_order' }]);
  });

  test('a name the model makes up is no place of another dispatch', async () => {
    const { trajectory } = await run(
      {
        '': [calls(dispatch('researcher#1/x'), dispatch('planner')), calls(dispatch('planner#2/y')), text('x')],
        'planner#2': [calls(dispatch('y')), text('y')],
      },
      [{ name: 'planner', sub_agents: ['researcher'] }, RESEARCHER],
    );
    expect(trajectory.sub_agents.map(({ id, name, parent }) => [id, name, parent])).toEqual([
      ['researcher%231%2Fx#1', 'researcher#1/x', null],
      ['planner#2', 'planner', null],
      ['planner#2/y#1', 'y', 'planner#2'],
      ['planner%232%2Fy#3', 'planner#2/y', null],
    ]);
  });

  test('those of a nested one stand under the agent’s own call, not under its dispatcher’s', async () => {
    const order = call('get_order', {});
    const { trajectory } = await run(
      {
        '': [calls(call('refund', {})), calls(dispatch('planner')), text('x')],
        'planner#1': [calls(dispatch('researcher')), text('y')],
        'planner#1/researcher#1': [calls(order), text('z')],
      },
      [{ name: 'planner', sub_agents: ['researcher'] }, RESEARCHER],
      { evalCase: { mock: { tools: [{ tool: 'refund', replies: [{ result: 'done' }] }] } } },
    );
    expect(trajectory.unmatched_calls).toEqual([{ index: 1, tool: 'get_order' }]);
  });
});

describe('several', () => {
  test('parallel dispatches overlap, each in its own conversation, recorded in the order made', async () => {
    let release = (): void => undefined;
    const second = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { trajectory, model } = await run(
      {
        '': [calls(dispatch('researcher', 'one'), dispatch('researcher', 'two')), text('both')],
        'researcher#1': [
          async () => {
            await second;
            return text('first');
          },
        ],
        'researcher#2': [
          () => {
            release();
            return Promise.resolve(text('second'));
          },
        ],
      },
      [RESEARCHER],
    );
    expect(dispatched(trajectory)).toEqual(['first', 'second']);
    expect(trajectory.sub_agents.map(({ id, input }) => [id, input])).toEqual([
      ['researcher#1', 'one'],
      ['researcher#2', 'two'],
    ]);
    const seen = model.requests.filter((_, at) => model.places[at]?.path === 'researcher#2');
    expect(JSON.stringify(seen)).not.toContain('"one"');
  });

  test('nested to the depth allowed, no deeper', async () => {
    const subAgents: SubAgentDefinition[] = [
      { name: 'a', sub_agents: ['b'] },
      { name: 'b', sub_agents: ['a'] },
    ];
    const { trajectory } = await run(
      {
        '': [calls(dispatch('a')), text('top')],
        'a#1': [calls(dispatch('b')), text('from a')],
        'a#1/b#1': [calls(dispatch('a')), text('from b')],
      },
      subAgents,
    );
    expect(trajectory.sub_agents.map(({ id, parent, blocked }) => [id, parent, blocked])).toEqual([
      ['a#1', null, null],
      ['a#1/b#1', 'a#1', null],
      ['a#1/b#1/a#1', 'a#1/b#1', 'max_sub_agent_depth (2) is reached'],
    ]);
    expect(trajectory.sub_agents[1]?.tool_calls[0]?.error?.kind).toBe('dispatch_blocked');
  });

  test('the mock world is the trial’s: what a sub-agent changes there, the agent sees', async () => {
    const mock: EvalCase['mock'] = {
      state: { paid: false },
      tools: [
        { tool: 'refund', replies: [{ set_state: { paid: true } }] },
        { tool: 'get_order', replies: [{ result: { $state: 'paid' } }] },
      ],
    };
    const { trajectory } = await run(
      {
        '': [calls(dispatch('clerk')), calls(call('get_order', {})), text('paid')],
        'clerk#1': [calls(call('refund', {})), text('done')],
      },
      [{ name: 'clerk', tools: ['refund'] }],
      { evalCase: { mock } },
    );
    expect(trajectory.tool_calls[1]?.result).toBe(true);
    expect(trajectory.end_state).toEqual({ paid: true });
  });
});

describe('a simulated sub-agent', () => {
  test('calls its tools and returns its result without asking a model', async () => {
    const { trajectory, model } = await run({ '': [calls(dispatch('clerk')), text('x')] }, [
      {
        name: 'clerk',
        tools: ['get_order'],
        mock: { calls: [{ tool: 'get_order', args: { order: 1 } }, { tool: 'refund' }], result: 'done' },
      },
    ]);
    expect(dispatched(trajectory)).toEqual(['done']);
    expect(trajectory.sub_agents[0]?.tool_calls.map(({ tool, error }) => [tool, error?.kind ?? null])).toEqual([
      ['get_order', null],
      ['refund', 'unknown_tool'],
    ]);
    expect(model.places.every(({ path }) => path === '')).toBe(true);
  });

  test('may fail or be too slow', async () => {
    const { trajectory } = await run({ '': [calls(dispatch('broken'), dispatch('slow')), text('went on')] }, [
      { name: 'broken', mock: { fail: 'out of order' } },
      { name: 'slow', timeout_ms: 20, mock: { result: 'late', delay_ms: 60_000 } },
    ]);
    expect(trajectory.answer).toBe('went on');
    expect(trajectory.sub_agents.map(({ final_status, output }) => [final_status, output])).toEqual([
      ['FAILED', null],
      ['PARTIAL_SUCCESS', null],
    ]);
  });
});

describe('the sub-agents of a case', () => {
  test('a list of its own takes the place of the suite’s; a name stands for the suite’s; [] is none', async () => {
    const named = await run({ '': [calls(dispatch('clerk')), text('x')] }, [RESEARCHER, { name: 'clerk', mock: {} }], {
      evalCase: { context: { sub_agents: ['clerk', { name: 'own', mock: {} }] } },
    });
    const names = named.trajectory.available_tools.at(-1)?.parameters;
    expect(JSON.stringify(names)).toContain('["clerk","own"]');
    const none = await run({ '': [text('x')] }, [RESEARCHER], { evalCase: { context: { sub_agents: [] } } });
    expect(none.trajectory.available_tools.map(({ name }) => name)).toEqual(['get_order', 'refund']);
  });
});
