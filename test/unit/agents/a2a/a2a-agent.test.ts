import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Part, TaskState } from '@a2a-js/sdk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createA2aAgent } from '../../../../src/agents/a2a/a2a-agent.ts';
import { REPORT_EXTENSION } from '../../../../src/agents/a2a/remote-parts.ts';
import { sleep } from '../../../../src/agents/sleep.ts';
import type { A2aAgentConfig } from '../../../../src/core/a2a-config.ts';
import type { EvalCase } from '../../../../src/core/case.ts';
import { MissingVariableError, UserError } from '../../../../src/core/errors.ts';
import type { Suite } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { caseOf, suiteOf } from '../trial-fixture.ts';
import { data, type Remote, type RemoteOptions, startRemote, text } from './remote-agent-fixture.ts';

const { TASK_STATE_COMPLETED: COMPLETED, TASK_STATE_WORKING: WORKING } = TaskState;
const { TASK_STATE_INPUT_REQUIRED: ASKS, TASK_STATE_FAILED: FAILED, TASK_STATE_REJECTED: REJECTED } = TaskState;

let remotes: Remote[] = [];
beforeEach(() => {
  // The SDK's server logs errors it answers with.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const remote of remotes) await remote.close();
  remotes = [];
});

async function remoteOf(options: RemoteOptions): Promise<Remote> {
  const remote = await startRemote(options);
  remotes.push(remote);
  return remote;
}

interface RunOptions {
  config?: Partial<A2aAgentConfig>;
  evalCase?: Partial<EvalCase>;
  signal?: AbortSignal;
  timeoutMs?: number;
  limits?: Partial<Suite['limits']>;
  env?: Record<string, string>;
}

function run(url: string, options: RunOptions = {}): Promise<Trajectory> {
  const agent: A2aAgentConfig = {
    type: 'a2a',
    card_url: url,
    allow_private: false,
    mode: 'auto',
    poll_interval_ms: 10,
    patience_ms: 3_000,
    max_response_bytes: 1_000_000,
    ...options.config,
  };
  const suite = suiteOf({ agent });
  Object.assign(suite.limits, options.limits);
  if (options.timeoutMs !== undefined) suite.limits.timeout_ms = options.timeoutMs;
  return createA2aAgent({ env: options.env ?? {}, sleep }).run({
    evalCase: caseOf(options.evalCase),
    trialIndex: 1,
    suite,
    suiteRoot: '/',
    model: { complete: () => Promise.reject(new Error('an A2A agent has a model of its own')) },
    signal: options.signal ?? new AbortController().signal,
    now: Date.now,
  });
}

const answers =
  (said: string): RemoteOptions['behaviour'] =>
  (say) => {
    say.status(WORKING, 'looking');
    say.artifact('answer', [text(said)]);
    say.status(COMPLETED);
  };

describe('one message', () => {
  test.each([
    ['1.0', 'JSONRPC', true],
    ['1.0', 'JSONRPC', false],
    ['1.0', 'HTTP+JSON', true],
    ['1.0', 'HTTP+JSON', false],
    ['0.3', 'JSONRPC', true],
    ['0.3', 'JSONRPC', false],
    ['0.3', 'HTTP+JSON', true],
    ['0.3', 'HTTP+JSON', false],
  ] as const)('protocol %s over %s, streaming %s', async (version, binding, streaming) => {
    const remote = await remoteOf({ version, binding, streaming, behaviour: answers('Refunded.') });
    const trajectory = await run(remote.url);
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      answer: 'Refunded.',
      artifacts: [{ id: 'answer', parts: [{ kind: 'text', text: 'Refunded.' }] }],
    });
    expect(trajectory.usage.total).toBeNull();
    const said = trajectory.messages.map(({ role, content }) => `${role}: ${content}`);
    expect(said[0]).toBe('user: Refund order 88');
    expect(said.at(-1)).toBe('assistant: Refunded.');
    if (streaming) expect(said).toContain('assistant: looking');
  });

  test.each(['stream', 'poll', 'blocking'] as const)('mode %s', async (mode) => {
    const remote = await remoteOf({
      behaviour: async (say) => {
        say.status(WORKING);
        await delay(50);
        say.status(COMPLETED, 'done');
      },
    });
    expect((await run(remote.url, { config: { mode } })).answer).toBe('done');
    const polled = remote.log.filter((line) => line.startsWith('GetTask')).length;
    expect(polled > 0).toBe(mode === 'poll');
    expect(remote.log.filter((line) => /SendStreaming/.test(line))).toHaveLength(mode === 'stream' ? 1 : 0);
  });

  test('a message in place of a task is the answer', async () => {
    const remote = await remoteOf({ behaviour: (say) => say.message('Hello.') });
    expect(await run(remote.url)).toMatchObject({ final_status: 'COMPLETED', answer: 'Hello.' });
  });

  test('artifacts come in pieces; data and files are recorded, files by hash', async () => {
    const remote = await remoteOf({
      behaviour(say) {
        say.artifact('a', [text('one ')]);
        say.artifact('a', [text('two')], { append: true });
        say.artifact('table', [data({ rows: [1, 2] })], { name: 'Table' });
        say.artifact('file', [
          {
            content: { $case: 'raw', value: Buffer.from('hi') },
            metadata: undefined,
            filename: 'a.txt',
            mediaType: 'text/plain',
          },
        ]);
        say.status(COMPLETED);
      },
    });
    const { answer, artifacts } = await run(remote.url);
    expect(answer).toBe('one \ntwo');
    expect(artifacts).toMatchObject([
      { id: 'a' },
      { id: 'table', name: 'Table', parts: [{ kind: 'data', data: { rows: [1, 2] } }] },
      { id: 'file', parts: [{ kind: 'file', filename: 'a.txt', bytes: 2, base64: 'aGk=' }] },
    ]);
    expect(artifacts?.[2]?.parts[0]).toHaveProperty(
      'sha256',
      '8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',
    );
  });

  test('earlier conversation and documents go before the question as a text of their own', async () => {
    const remote = await remoteOf({ behaviour: answers('ok') });
    await run(remote.url, {
      evalCase: {
        context: {
          memory: [{ role: 'user', content: 'My order is 88.' }],
          documents: [{ id: 'd1', text: 'Refunds take 3 days.' }],
        },
      },
    });
    const parts = remote.messages[0]?.parts.map((part) => part.content?.value as string) ?? [];
    expect(parts).toHaveLength(2);
    expect(parts[0]).toContain('user: My order is 88.');
    expect(parts[0]).toContain('Refunds take 3 days.');
    expect(parts[1]).toBe('Refund order 88');
  });
});

describe('what the agent does wrong is data', () => {
  test.each([
    [FAILED, 'FAILED', 'the remote task failed: no stock'],
    [REJECTED, 'FAILED', 'the agent rejected the task: no stock'],
    [TaskState.TASK_STATE_CANCELED, 'CANCELED', 'the remote task was canceled: no stock'],
    [TaskState.TASK_STATE_AUTH_REQUIRED, 'FAILED', 'the agent asks for a login, which Assay cannot give: no stock'],
  ] as const)('state %s', async (state, status, reason) => {
    const remote = await remoteOf({ behaviour: (say) => say.status(state, 'no stock') });
    expect(await run(remote.url)).toMatchObject({ final_status: status, final_status_reason: reason, answer: null });
  });

  test('an error of the protocol', async () => {
    const remote = await remoteOf({
      behaviour: () => {
        throw new Error('boom');
      },
    });
    expect(await run(remote.url, { config: { mode: 'blocking' } })).toMatchObject({ final_status: 'FAILED' });
  });

  test('nothing said', async () => {
    const remote = await remoteOf({ behaviour: (say) => say.status(COMPLETED) });
    const { final_status, final_status_reason } = await run(remote.url);
    expect([final_status, final_status_reason]).toEqual([
      'FAILED',
      'no answer: the task (completed) holds no text and no data',
    ]);
  });

  test('a reply longer than is read', async () => {
    const remote = await remoteOf({ behaviour: answers('x'.repeat(200_000)) });
    expect(await run(remote.url, { config: { max_response_bytes: 50_000 } })).toMatchObject({
      final_status: 'FAILED',
      final_status_reason: 'the reply is longer than 50000 bytes',
    });
  });
});

describe('turns', () => {
  test("a task that asks gets the case's next turn, in the same task", async () => {
    const remote = await remoteOf({
      behaviour: (say, { userMessage, task }) => {
        const said = userMessage.parts[0]?.content?.value as string;
        if (task === undefined) say.status(ASKS, 'Which order?');
        else say.status(COMPLETED, `Done: ${said}`);
      },
    });
    const trajectory = await run(remote.url, { evalCase: { input: 'Refund it', turns: ['Order 88'] } });
    // input and the first turn go together: both are the user's first words
    const longer = await run(remote.url, { evalCase: { input: 'Refund it', turns: ['please', 'Order 88'] } });
    expect(longer).toMatchObject({ final_status: 'COMPLETED', answer: 'Done: Order 88' });
    expect(longer.messages.map(({ content }) => content)).toEqual([
      'Refund it',
      'please',
      'Which order?',
      'Order 88',
      'Done: Order 88',
    ]);
    const [, first, second] = remote.messages;
    expect(second?.taskId).toBe(first?.taskId);
    expect(trajectory).toMatchObject({ final_status: 'INPUT_REQUIRED', answer: 'Which order?' });
    expect(trajectory.final_status_reason).toContain('no further turn');
  });

  test('a turn after an answer is a new task in the same context', async () => {
    const remote = await remoteOf({ behaviour: answers('ok') });
    const trajectory = await run(remote.url, { evalCase: { input: 'one', turns: ['two', 'three'] } });
    expect(trajectory.final_status).toBe('COMPLETED');
    const [first, second] = remote.messages;
    expect(second?.contextId).toBe(first?.contextId);
    expect(second?.taskId).not.toBe(first?.taskId);
  });
});

describe('reports', () => {
  test('calls, usage and sub-agents an agent reports are recorded as its own', async () => {
    const report = {
      tool_calls: [{ tool: 'get_order', args: { id: 88 }, result: { status: 'paid' } }],
      usage: { input: 10, output: 5 },
      sub_agents: [{ name: 'helper', input: 'look', output: 'found' }],
      retrieved_doc_ids: ['d1'],
    };
    const remote = await remoteOf({
      behaviour(say) {
        say.artifact('answer', [text('Paid.')]);
        say.status(COMPLETED, undefined, [data({ assay_report: report })]);
      },
    });
    const trajectory = await run(remote.url);
    expect(trajectory).toMatchObject({
      answer: 'Paid.',
      tool_calls: [{ tool: 'get_order', args: { id: 88 }, result: { status: 'paid' } }],
      usage: { input: 10, output: 5, total: 15 },
      sub_agents: [{ name: 'helper' }],
      retrieved_doc_ids: ['d1'],
    });
    expect(trajectory.artifacts?.map(({ id }) => id)).toEqual(['answer']);
  });

  test('an agent with the extension is told the tools, and its calls are answered by the mock world', async () => {
    const remote = await remoteOf({
      extensions: [REPORT_EXTENSION],
      behaviour(say, { userMessage, task }) {
        const values = userMessage.parts.map((part) => part.content?.value as Record<string, unknown>);
        if (task === undefined) {
          expect(values[1]).toMatchObject({ assay_case: { tools: [{ name: 'get_order' }, { name: 'refund' }] } });
          const pending_calls = [{ id: 'a', tool: 'get_order', args: { id: 88 } }];
          say.status(ASKS, undefined, [data({ assay_report: { pending_calls } })]);
        } else {
          say.status(COMPLETED, JSON.stringify(values[0]));
        }
      },
    });
    const trajectory = await run(remote.url, {
      evalCase: { mock: { tools: [{ tool: 'get_order', replies: [{ result: { status: 'paid' } }] }] } },
    });
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      tool_calls: [{ tool: 'get_order', args: { id: 88 }, result: { status: 'paid' }, error: null }],
    });
    expect(trajectory.answer).toContain('"assay_tool_results"');
    expect(trajectory.answer).toContain('paid');
  });

  test('an agent without it is told nothing but the words', async () => {
    const remote = await remoteOf({ behaviour: answers('ok') });
    await run(remote.url);
    expect(remote.messages[0]?.parts).toHaveLength(1);
  });
});

describe('caps', () => {
  test('R10: an agent that never stops asking for calls ends at each cap, which is named', async () => {
    const remote = await remoteOf({
      behaviour: (say) =>
        say.status(ASKS, undefined, [data({ assay_report: { pending_calls: [{ tool: 'get_order', args: {} }] } })]),
    });
    for (const limits of [{ max_tool_calls: 3 }, { max_iterations: 2 }]) {
      const [[name, most] = ['', 0]] = Object.entries(limits);
      expect(await run(remote.url, { limits })).toMatchObject({
        final_status: 'MAX_ITERATIONS',
        final_status_reason: `${name} (${most}) is reached`,
      });
    }
  });

  test('R10: calls it made by itself count', async () => {
    const made = Array.from({ length: 4 }, (_, id) => ({ tool: 'get_order', args: { id } }));
    const remote = await remoteOf({
      behaviour: (say) => say.status(COMPLETED, 'done', [data({ assay_report: { tool_calls: made } })]),
    });
    const trajectory = await run(remote.url, { limits: { max_tool_calls: 3 } });
    expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', answer: null });
    expect(trajectory.tool_calls).toHaveLength(4);
  });

  test('what a task did before it failed is recorded', async () => {
    const report = { tool_calls: [{ tool: 'get_order', args: { id: 88 }, error: 'down' }], usage: { total: 9 } };
    const remote = await remoteOf({ behaviour: (say) => say.status(FAILED, 'no', [data({ assay_report: report })]) });
    expect(await run(remote.url)).toMatchObject({
      final_status: 'FAILED',
      final_status_reason: 'the remote task failed: no',
      tool_calls: [{ tool: 'get_order', error: { message: 'down' } }],
      usage: { total: 9 },
    });
  });
});

test('what a task brought in an earlier turn is neither answered nor counted again', async () => {
  const usage = (input: number): Part => data({ assay_report: { usage: { input, output: 0 } } });
  const remote = await remoteOf({
    behaviour(say, { task }) {
      if (task === undefined) {
        say.artifact('draft', [text('A draft.'), usage(5)]);
        return say.status(ASKS, 'Shall I send it?');
      }
      say.artifact('receipt', [text('Sent.'), usage(7)]);
      say.status(COMPLETED);
    },
  });
  const trajectory = await run(remote.url, { evalCase: { turns: ['Go on'], input: 'Write to Ann' } });
  expect(trajectory).toMatchObject({ final_status: 'INPUT_REQUIRED', answer: 'Shall I send it?' });
  const longer = await run(remote.url, { evalCase: { turns: ['Please', 'Yes'], input: 'Write to Ann' } });
  expect(longer).toMatchObject({ final_status: 'COMPLETED', answer: 'Sent.', usage: { input: 12 } });
  expect(longer.artifacts?.map(({ id }) => id)).toEqual(['draft', 'receipt']);
});

test.each(['stream', 'poll', 'blocking'] as const)(
  'an agent that is slow to take up an answer has not asked again (%s)',
  async (mode) => {
    const remote = await remoteOf({
      behaviour: async (say, { userMessage, task }) => {
        if (task === undefined) return say.status(ASKS, 'Which order?');
        // Nothing is said of the task meanwhile: it still asks.
        await delay(60);
        say.status(COMPLETED, `Done: ${userMessage.parts[0]?.content?.value as string}`);
      },
    });
    const trajectory = await run(remote.url, { config: { mode }, evalCase: { turns: ['please', 'Order 88', 'Bye'] } });
    expect(trajectory.messages.map(({ content }) => content).slice(-4, -2)).toEqual(['Order 88', 'Done: Order 88']);
  },
);

describe('cancel and time', () => {
  const never: RemoteOptions['behaviour'] = async (say) => {
    say.status(WORKING, 'on it');
    await delay(5_000, undefined, { ref: false });
  };

  test.each(['stream', 'poll'] as const)('a cancel reaches the agent within a second (%s)', async (mode) => {
    const remote = await remoteOf({ behaviour: never });
    const stop = new AbortController();
    const running = run(remote.url, { config: { mode }, signal: stop.signal });
    await vi.waitFor(() => expect(remote.messages).toHaveLength(1));
    await delay(50);
    const at = performance.now();
    stop.abort(new Error('canceled by a test'));
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - at).toBeLessThan(1_000);
    expect(remote.canceled).toHaveLength(1);
  });

  test('a trial that takes too long is TIMEOUT, and its task is canceled', async () => {
    const remote = await remoteOf({ behaviour: never });
    const trajectory = await run(remote.url, { timeoutMs: 200 });
    expect(trajectory).toMatchObject({ final_status: 'TIMEOUT', answer: null });
    expect(remote.canceled).toHaveLength(1);
  });
});

describe('an agent that goes away', () => {
  test.each(['stream', 'poll'] as const)('a server that restarts mid-task is followed on (%s)', async (mode) => {
    const finish = Promise.withResolvers<void>();
    const remote = await remoteOf({
      behaviour: async (say) => {
        say.status(WORKING, 'on it');
        await finish.promise;
        say.status(COMPLETED, 'after the restart');
      },
    });
    const running = run(remote.url, { config: { mode } });
    await vi.waitFor(() => expect(remote.messages).toHaveLength(1));
    await delay(50);
    await remote.stop();
    finish.resolve();
    await delay(100);
    await remote.start();
    expect(await running).toMatchObject({ final_status: 'COMPLETED', answer: 'after the restart' });
    expect(remote.messages).toHaveLength(1);
  });

  test.each([
    ['1.0', 'JSONRPC', true],
    ['1.0', 'JSONRPC', false],
    ['1.0', 'HTTP+JSON', false],
    ['0.3', 'JSONRPC', false],
    ['0.3', 'HTTP+JSON', false],
  ] as const)(
    'R7: a server that restarts without its task is infrastructure, tried again at once (%s, %s, streaming %s)',
    async (version, binding, streaming) => {
      const remote = await remoteOf({
        version,
        binding,
        streaming,
        behaviour: async (say) => {
          say.status(WORKING);
          await delay(5_000, undefined, { ref: false });
        },
      });
      const running = run(remote.url, { config: { patience_ms: 600_000 } });
      await vi.waitFor(() => expect(remote.messages).toHaveLength(1));
      await delay(50);
      await remote.stop();
      await remote.start({ forget: true });
      await expect(running).rejects.toMatchObject({ kind: 'server_error', message: /has forgotten its task/ });
    },
  );

  test('one that stays away is a failure of infrastructure, tried again', async () => {
    const remote = await remoteOf({
      behaviour: async (say) => {
        say.status(WORKING);
        await delay(5_000, undefined, { ref: false });
      },
    });
    const running = run(remote.url, { config: { patience_ms: 100 } });
    await vi.waitFor(() => expect(remote.messages).toHaveLength(1));
    await delay(50);
    await remote.stop();
    await expect(running).rejects.toMatchObject({ name: 'ModelError', kind: 'connection' });
  });

  test('nobody there', async () => {
    const remote = await remoteOf({ behaviour: answers('ok') });
    await remote.stop();
    await expect(run(remote.url)).rejects.toMatchObject({ kind: 'connection' });
    await remote.start();
  });
});

describe('cards', () => {
  test.each([
    ['http://169.254.169.254/rpc'],
    ['http://[::ffff:169.254.169.254]/rpc'],
    ['http://10.0.0.7/rpc'],
    ['http://127.0.0.1:1/rpc'],
  ])('a card may not send Assay to %s', async (cardUrl) => {
    const remote = await remoteOf({ behaviour: answers('ok'), cardUrl });
    await expect(run(remote.url)).rejects.toThrow(/private, link-local or reserved/);
    expect(remote.log).toEqual(['GET /.well-known/agent-card.json']);
  });

  test('the token is sent to the agent, and is in nothing that is recorded', async () => {
    const token = 'token-canary-0123456789';
    const remote = await remoteOf({ token, behaviour: answers(`you sent ${token}`) });
    const options = { config: { auth_env: 'AGENT_TOKEN' }, env: { AGENT_TOKEN: `${token}\n` } };
    const trajectory = await run(remote.url, options);
    expect(trajectory.final_status).toBe('COMPLETED');
    expect(JSON.stringify(trajectory)).not.toContain(token);
  });

  test('a wrong token, and none', async () => {
    const remote = await remoteOf({ token: 'right', behaviour: answers('ok') });
    const wrong = run(remote.url, { config: { auth_env: 'T' }, env: { T: 'wrong-token' } });
    await expect(wrong).rejects.toMatchObject({ name: 'ModelError', kind: 'unauthorized' });
    await expect(wrong).rejects.toThrow(/HTTP 401\. Set a valid token in the variable that auth_env \(agent\.auth_env/);
    const none = run(remote.url, { config: { auth_env: 'T' } });
    await expect(none).rejects.toThrow(MissingVariableError);
    await expect(none).rejects.toThrow('auth_env names T, which is not set');
  });

  test.each([
    [401, 'JSONRPC', 'unauthorized'],
    [403, 'HTTP+JSON', 'forbidden'],
    [404, 'JSONRPC', 'invalid_endpoint'],
    [404, 'HTTP+JSON', 'invalid_endpoint'],
    [405, 'JSONRPC', 'invalid_endpoint'],
  ] as const)('R8: %i at the address the card names (%s) is %s', async (status, binding, kind) => {
    const wrong = createServer((_, response) => response.writeHead(status).end('<html>no</html>'));
    await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve));
    const cardUrl = `http://127.0.0.1:${(wrong.address() as AddressInfo).port}/rpc`;
    for (const streaming of [true, false]) {
      const remote = await remoteOf({ binding, streaming, behaviour: answers('ok'), cardUrl });
      const running = run(remote.url, { config: { allow_private: true } });
      await expect(running).rejects.toMatchObject({ name: 'ModelError', kind, status });
    }
    wrong.close();
  });

  test('what is no card says so', async () => {
    const remote = await remoteOf({ behaviour: answers('ok') });
    await expect(run(`${remote.url}/nothing.json`)).rejects.toThrow('there is no agent card at');
    await expect(run(`${remote.url}/rest/extendedAgentCard`)).rejects.toThrow(UserError);
  });

  test('a streaming that is not offered is not pretended', async () => {
    const remote = await remoteOf({ streaming: false, behaviour: answers('ok') });
    await expect(run(remote.url, { config: { mode: 'stream' } })).rejects.toThrow('offers no streaming');
  });
});
