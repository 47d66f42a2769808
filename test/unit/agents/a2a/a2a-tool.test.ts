import { setTimeout as delay } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openA2aTools } from '../../../../src/agents/a2a/a2a-tool.ts';
import { createOpenAiAgent } from '../../../../src/agents/openai/openai-agent.ts';
import { sleep } from '../../../../src/agents/sleep.ts';
import type { A2aToolConfig } from '../../../../src/core/a2a-config.ts';
import type { EvalCase } from '../../../../src/core/case.ts';
import type { ModelReply, ModelRequest } from '../../../../src/core/model.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { call, calls, caseOf, suiteOf, text as says } from '../trial-fixture.ts';
import { data, type Remote, type RemoteOptions, startRemote, text } from './remote-agent-fixture.ts';

const { TASK_STATE_COMPLETED: COMPLETED, TASK_STATE_WORKING: WORKING, TASK_STATE_INPUT_REQUIRED: ASKS } = TaskState;

let remotes: Remote[] = [];
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const remote of remotes) await remote.close();
  remotes = [];
});

async function remoteOf(behaviour: RemoteOptions['behaviour'], more: Partial<RemoteOptions> = {}): Promise<Remote> {
  const remote = await startRemote({ behaviour, ...more });
  remotes.push(remote);
  return remote;
}

interface RunOptions {
  replies: (ModelReply | ((request: ModelRequest) => ModelReply))[];
  tool?: Partial<A2aToolConfig>;
  evalCase?: Partial<EvalCase>;
  signal?: AbortSignal;
  env?: Record<string, string>;
}

/** The built-in agent with one tool, `ask_billing`; the model is the list of replies. Requests are kept. */
async function run(url: string, options: RunOptions): Promise<{ trajectory: Trajectory; requests: ModelRequest[] }> {
  const a2a: A2aToolConfig = {
    card_url: url,
    allow_private: false,
    mode: 'auto',
    poll_interval_ms: 10,
    patience_ms: 1_000,
    max_response_bytes: 1_000_000,
    timeout_ms: 5_000,
    ...options.tool,
  };
  const requests: ModelRequest[] = [];
  const replies = [...options.replies];
  const sources = [openA2aTools({ env: options.env ?? {}, sleep })];
  const trajectory = await createOpenAiAgent({ sleep, sources }).run({
    evalCase: caseOf(options.evalCase),
    trialIndex: 1,
    suite: suiteOf({ tools: [{ name: 'ask_billing', a2a }] }),
    suiteRoot: '/',
    model: {
      complete(request) {
        requests.push(structuredClone(request));
        const next = replies.shift();
        if (next === undefined) throw new Error('the model has no further reply');
        return Promise.resolve(typeof next === 'function' ? next(request) : next);
      },
    },
    signal: options.signal ?? new AbortController().signal,
    now: Date.now,
  });
  return { trajectory, requests };
}

const asks = (args: Record<string, string>): ModelReply => calls(call('ask_billing', args, 'c1'));

test('a call sends a message, follows the task, and its answer goes back to the model', async () => {
  const remote = await remoteOf(async (say) => {
    say.status(WORKING, 'looking');
    await delay(20);
    say.artifact('answer', [text('Invoice 7 is paid.'), data({ paid: true })]);
    say.status(COMPLETED);
  });
  const { trajectory, requests } = await run(remote.url, {
    replies: [asks({ message: 'Is invoice 7 paid?' }), says('Yes, it is paid.')],
  });
  expect(remote.messages[0]?.parts[0]?.content?.value).toBe('Is invoice 7 paid?');
  expect(trajectory).toMatchObject({
    final_status: 'COMPLETED',
    answer: 'Yes, it is paid.',
    tool_calls: [
      {
        tool: 'ask_billing',
        error: null,
        result: {
          task_id: remote.messages[0]?.taskId,
          state: 'completed',
          states: ['submitted', 'working', 'completed'],
          text: 'Invoice 7 is paid.',
          artifacts: [{ id: 'answer', parts: [{ kind: 'text' }, { kind: 'data', data: { paid: true } }] }],
        },
      },
    ],
    unmatched_calls: [],
  });
  expect(requests[1]?.messages.at(-1)?.content).toContain('Invoice 7 is paid.');
});

test('the model is shown a tool, not where it leads', async () => {
  const remote = await remoteOf((say) => say.message('ok'));
  const { requests } = await run(remote.url, { replies: [says('no need')] });
  expect(requests[0]?.tools).toMatchObject([{ name: 'ask_billing', parameters: { required: ['message'] } }]);
  expect(JSON.stringify(requests[0]?.tools)).not.toContain('127.0.0.1');
});

test('a task that asks is gone on with by its id', async () => {
  const remote = await remoteOf((say, { task, userMessage }) => {
    if (task === undefined) say.status(ASKS, 'Which invoice?');
    else say.status(COMPLETED, `${userMessage.parts[0]?.content?.value as string} is paid`);
  });
  const { trajectory } = await run(remote.url, {
    replies: [
      asks({ message: 'Is it paid?' }),
      (request) => {
        const { task_id } = JSON.parse(request.messages.at(-1)?.content ?? '{}') as { task_id: string };
        return asks({ message: 'Invoice 7', task_id });
      },
      says('done'),
    ],
  });
  expect(trajectory.tool_calls.map(({ result }) => result)).toMatchObject([
    { state: 'input_required', text: 'Which invoice?' },
    { state: 'completed', text: 'Invoice 7 is paid' },
  ]);
  expect(new Set(remote.messages.map(({ taskId }) => taskId)).size).toBe(1);
});

test('R7: a host that forgot the task it waits in is tried again; a task id nobody named is a failed tool', async () => {
  const remote = await remoteOf((say) => say.status(ASKS, 'Which invoice?'));
  const goesOn = (request: ModelRequest): ModelReply => {
    remote.forget();
    const { task_id } = JSON.parse(request.messages.at(-1)?.content ?? '{}') as { task_id: string };
    return asks({ message: 'Invoice 7', task_id });
  };
  const forgotten = run(remote.url, { replies: [asks({ message: 'Is it paid?' }), goesOn, says('done')] });
  await expect(forgotten).rejects.toMatchObject({ name: 'ModelError', kind: 'server_error' });
  const { trajectory } = await run(remote.url, { replies: [asks({ message: 'x', task_id: 'mine' }), says('done')] });
  expect(trajectory.tool_calls[0]?.error).toMatchObject({ kind: 'remote_error' });
});

test('a failed task is a failed tool, and the agent goes on', async () => {
  const remote = await remoteOf((say) => say.status(TaskState.TASK_STATE_FAILED, 'no such invoice'));
  const { trajectory } = await run(remote.url, { replies: [asks({ message: 'x' }), says('It failed.')] });
  expect(trajectory.tool_calls[0]?.error).toEqual({
    kind: 'remote_failed',
    message: 'the remote task is failed: no such invoice',
  });
  expect(trajectory.final_status).toBe('COMPLETED');
});

test('a task that takes too long is a failed tool, and is canceled there', async () => {
  const remote = await remoteOf(async (say) => {
    say.status(WORKING);
    await delay(5_000, undefined, { ref: false });
  });
  const { trajectory } = await run(remote.url, {
    tool: { timeout_ms: 150 },
    replies: [asks({ message: 'x' }), says('It took too long.')],
  });
  expect(trajectory.tool_calls[0]).toMatchObject({ error: { kind: 'timeout' }, result: { state: 'working' } });
  expect(remote.canceled).toHaveLength(1);
});

test('a cancel of the trial cancels the remote task', async () => {
  const remote = await remoteOf(async (say) => {
    say.status(WORKING);
    await delay(5_000, undefined, { ref: false });
  });
  const stop = new AbortController();
  const running = run(remote.url, { replies: [asks({ message: 'x' })], signal: stop.signal });
  await vi.waitFor(() => expect(remote.messages).toHaveLength(1));
  await delay(50);
  stop.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(() => expect(remote.canceled).toHaveLength(1), { timeout: 1_000 });
});

test('a host that is away is tried again with the trial; a card that leads astray stops it', async () => {
  const remote = await remoteOf((say) => say.message('ok'));
  await remote.stop();
  await expect(run(remote.url, { replies: [asks({ message: 'x' })] })).rejects.toMatchObject({ kind: 'connection' });
  await remote.start();
  const astray = await remoteOf((say) => say.message('ok'), { cardUrl: 'http://169.254.169.254/' });
  await expect(run(astray.url, { replies: [asks({ message: 'x' })] })).rejects.toThrow(/link-local/);
});

test('the token of the remote agent is in nothing that is recorded', async () => {
  const token = 'token-canary-0123456789';
  const remote = await remoteOf((say) => say.message(`you sent ${token}`), { token });
  const { trajectory, requests } = await run(remote.url, {
    tool: { auth_env: 'T' },
    env: { T: token },
    replies: [asks({ message: 'x' }), says('done')],
  });
  expect(trajectory.tool_calls[0]?.error).toBeNull();
  expect(JSON.stringify([trajectory, requests])).not.toContain(token);
});

test('a case with fixtures for the tool needs no remote agent', async () => {
  const { trajectory } = await run('http://127.0.0.1:1', {
    replies: [asks({ message: 'x' }), says('done')],
    evalCase: { mock: { tools: [{ tool: 'ask_billing', replies: [{ result: { text: 'mocked' } }] }] } },
  });
  expect(trajectory.tool_calls[0]?.result).toEqual({ text: 'mocked' });
});
