import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMcpTools } from '../../../../src/agents/mcp/mcp-tools.ts';
import type { ToolOutcome } from '../../../../src/agents/mock/mock-world.ts';
import { createOpenAiAgent } from '../../../../src/agents/openai/openai-agent.ts';
import type { ToolSource } from '../../../../src/agents/trial-world.ts';
import { MissingVariableError, UserError } from '../../../../src/core/errors.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { McpServerConfig } from '../../../../src/core/suite.ts';
import type { ToolCall } from '../../../../src/core/trajectory.ts';
import { eventually } from '../../../e2e/support/program.ts';
import { isRunning } from '../is-running.ts';
import { call, calls, caseOf, inputOf, scripted, suiteOf, text } from '../trial-fixture.ts';
import { createOrderServer } from './server.ts';

const SERVER = path.resolve(import.meta.dirname, 'server.ts');
const TOKEN = 'mcp-token-canary-0001';

let folder: string;
let open: ToolSource[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'assay-mcp-'));
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((source) => source.close()));
  rmSync(folder, { recursive: true, force: true });
});

function stdio(part: Partial<McpServerConfig> = {}): McpServerConfig {
  return { name: 'orders', command: process.execPath, args: [SERVER], mode: 'live', timeout_ms: 10_000, ...part };
}

async function openServers(
  mcp: McpServerConfig[],
  options: { id?: string; env?: Record<string, string>; signal?: AbortSignal; mocked?: string } = {},
): Promise<ToolSource> {
  const { id = 'c1', env = { PATH: process.env['PATH'] ?? '', SECRET_OF_WORKER: 'x' }, mocked } = options;
  const mock = mocked === undefined ? {} : { mock: { tools: [{ tool: mocked, replies: [{ result: 'simulated' }] }] } };
  const source = await createMcpTools({ env })(
    inputOf({
      model: scripted(),
      evalCase: caseOf({ id, ...mock }),
      suite: suiteOf({ tools: [], mcp }),
      suiteRoot: folder,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }),
  );
  open.push(source);
  return source;
}

/** Starts the same server again and again, as the trials of one worker do. */
function starter(): (args: string[]) => Promise<ToolSource> {
  const openSource = createMcpTools({ env: { PATH: process.env['PATH'] ?? '' } });
  return (args) => {
    const suite = suiteOf({ tools: [], mcp: [stdio({ args })] });
    return openSource(inputOf({ model: scripted(), evalCase: caseOf({}), suite, suiteRoot: folder }));
  };
}

const NEVER = new AbortController().signal;
function ask(source: ToolSource, tool: string, args: JsonObject = {}, signal = NEVER): Promise<ToolOutcome> {
  return source.handlers.get(tool)!(args, signal, {} as ToolCall);
}

describe.each(['modern', 'legacy'])('a stdio server, %s', (era) => {
  const server = (part: Partial<McpServerConfig> = {}): McpServerConfig => stdio({ args: [SERVER, era], ...part });

  test('offers its tools with their schemas, and answers', async () => {
    const source = await openServers([server({ tools: ['get_order', 'refuse', 'count'] })]);
    expect(source.tools.map(({ name }) => name)).toEqual(['get_order', 'count', 'refuse']);
    expect(source.tools[0]).toMatchObject({
      description: 'Looks up an order.',
      parameters: { properties: { order: { type: 'number' } }, required: ['order'] },
    });
    expect(await ask(source, 'get_order', { order: 88 })).toEqual({
      result: { id: 88, by: '-' },
      error: null,
      unmatched: false,
    });
    expect((await ask(source, 'count')).result).toBe('call 1');
    expect((await ask(source, 'refuse')).error).toEqual({ kind: 'tool_error', message: 'not for you' });
    expect((await ask(source, 'get_order', { order: 'x' })).error).not.toBeNull();
  });
});

describe('a stdio server', () => {
  test('gets a clean environment: what it needs to start and what the suite names', async () => {
    const env = { PATH: process.env['PATH'] ?? '', SECRET_OF_WORKER: 'x', MCP_BY: 'a-name-for-tests' };
    const source = await openServers([stdio({ env: ['MCP_BY'] })], { env });
    const names = ((await ask(source, 'environment')).result as string).split(' ');
    expect(names).toContain('MCP_BY');
    expect(names).not.toContain('SECRET_OF_WORKER');
    // What it was trusted with is withheld, should it say it.
    expect((await ask(source, 'get_order', { order: 1 })).result).toEqual({ id: 1, by: '[api key withheld by Assay]' });
  });

  test('that exits in a trial is an error of the tool, with its last words; later calls say so too', async () => {
    const source = await openServers([stdio()]);
    const first = await ask(source, 'exit');
    expect(first).toMatchObject({ result: null, error: { kind: 'server_gone' } });
    expect(first.error?.message).toContain('out of paper');
    expect((await ask(source, 'count')).error?.kind).toBe('server_gone');
  });

  test('that does not answer in time is a timeout of the tool', async () => {
    const source = await openServers([stdio({ timeout_ms: 300 })]);
    expect((await ask(source, 'hang')).error?.kind).toBe('timeout');
    expect((await ask(source, 'count')).result).toBe('call 1');
  });

  test('a cancel ends a call at once', async () => {
    const source = await openServers([stdio()]);
    const controller = new AbortController();
    const hanging = ask(source, 'hang', {}, controller.signal);
    controller.abort();
    await expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('leaves nothing running: it and what it started end with the trial', async () => {
    const source = await openServers([stdio()]);
    const pids = ((await ask(source, 'processes')).result as string).split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await source.close();
    await eventually('the processes to end', () => Promise.resolve(!pids.some(isRunning)));
  });

  test('that cannot be started, or ends at once, is not the agent’s failure', async () => {
    await expect(openServers([stdio({ command: 'no-such-program' })])).rejects.toThrow(UserError);
    const dying = stdio({ args: ['-e', 'console.error("no license"); process.exit(1)'] });
    await expect(openServers([dying])).rejects.toMatchObject({ kind: 'server_error' });
    await expect(openServers([dying])).rejects.toThrow('no license');
  });

  test('whose program does not exist is told at its place in the suite', async () => {
    const second = stdio({ name: 'b', command: 'no-such-program' });
    await expect(openServers([stdio(), second])).rejects.toThrow('mcp[1].command: there is no program');
  });

  test('whose script does not exist: the message holds what it died of', async () => {
    const wrong = openServers([stdio({ args: ['no-such-script.mjs'] })]);
    await expect(wrong).rejects.toThrow(/Cannot find module '.*no-such-script\.mjs'/);
    await expect(wrong).rejects.not.toThrow('node:internal/main');
  });

  test('that printed much keeps the line that names the error', async () => {
    const script = 'console.error("TypeError: no such plug\\n" + "detail ".repeat(200)); process.exit(1)';
    await expect(openServers([stdio({ args: ['-e', script] })])).rejects.toThrow('TypeError: no such plug … ');
  });

  test('that only ever ends at its start stops the evaluation at the third time', async () => {
    const start = starter();
    const dying = ['-e', 'console.error("no license"); process.exit(1)'];
    for (const _ of [1, 2]) await expect(start(dying)).rejects.toMatchObject({ kind: 'server_error' });
    const third = await start(dying).catch((error: unknown) => error);
    expect(third).toBeInstanceOf(UserError);
    expect(third).toMatchObject({ message: expect.stringMatching(/^mcp\[0\]\.command: .*no license/) });
  });

  test('that has started once is tried again however often it ends later', async () => {
    const start = starter();
    open.push(await start([SERVER]));
    for (const _ of [1, 2, 3, 4])
      await expect(start(['-e', 'process.exit(1)'])).rejects.toMatchObject({ kind: 'server_error' });
  });

  test('without the tool that `tools` names is the user’s error, with those it has', async () => {
    const wrong = openServers([stdio({ tools: ['count', 'get_ordr'] })]);
    await expect(wrong).rejects.toThrow(UserError);
    await expect(wrong).rejects.toThrow(
      'mcp[0].tools: MCP server orders has no tool "get_ordr" (did you mean "get_order"?)',
    );
    await expect(wrong).rejects.toMatchObject({ hint: expect.stringContaining('get_order, count') });
  });

  test('without tools offers none, and nothing is printed about it', async () => {
    const debug = vi.spyOn(console, 'debug').mockImplementation(() => undefined);
    expect((await openServers([stdio({ args: [SERVER, 'bare'] })])).tools).toEqual([]);
    expect(debug).not.toHaveBeenCalled();
    debug.mockRestore();
  });

  test('each trial has its own', async () => {
    const [one, two] = await Promise.all([openServers([stdio()]), openServers([stdio()])]);
    expect([(await ask(one!, 'count')).result, (await ask(two!, 'count')).result]).toEqual(['call 1', 'call 1']);
  });
});

test('a stdio server that is to get a variable that is not set is not started: the user’s error', async () => {
  const error = await openServers([stdio({ env: ['SECRET_OF_WORKER', 'NOT_SET'] })]).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MissingVariableError);
  expect(error).toMatchObject({ message: 'mcp[0].env names NOT_SET, which is not set' });
});

describe('a streamable HTTP server', () => {
  let server: Server;
  let seen: (string | undefined)[];
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

  beforeEach(async () => {
    seen = [];
    const handler = createMcpHandler(createOrderServer);
    server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = 'GET' } = request;
        const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        const body = method === 'GET' || method === 'DELETE' ? null : Buffer.concat(chunks).toString();
        void handler.fetch(new Request(url(), { method, headers, body })).then(async (reply) => {
          response.writeHead(reply.status, Object.fromEntries(reply.headers));
          response.end(Buffer.from(await reply.arrayBuffer()));
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const http = (part: Partial<McpServerConfig> = {}): McpServerConfig => ({
    name: 'orders',
    url: url(),
    mode: 'live',
    timeout_ms: 10_000,
    ...part,
  });

  test('offers and answers, and gets the token from the environment', async () => {
    const source = await openServers([http({ token_env: 'MCP_TOKEN' })], { env: { MCP_TOKEN: `${TOKEN}\n` } });
    expect((await ask(source, 'get_order', { order: 7 })).result).toEqual({ id: 7, by: '-' });
    expect(new Set(seen)).toEqual(new Set([`Bearer ${TOKEN}`]));
  });

  test('a variable that is not set is the user’s error', async () => {
    const error = await openServers([http({ token_env: 'MCP_TOKEN' })]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MissingVariableError);
    expect(error).toMatchObject({ message: 'mcp[0].token_env names MCP_TOKEN, which is not set' });
  });

  test('that goes away in a trial is an error of the tool', async () => {
    const source = await openServers([http()]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await ask(source, 'count')).toMatchObject({
      result: null,
      error: { message: expect.stringContaining('127.0.0.1') },
    });
  });

  test('nobody there at the start is not the agent’s failure', async () => {
    const away = http();
    await new Promise((resolve) => server.close(resolve));
    const opening = openServers([away]);
    await expect(opening).rejects.toMatchObject({ kind: 'server_error' });
    await expect(opening).rejects.toThrow(
      `MCP server orders cannot be used: connect ECONNREFUSED 127.0.0.1:${new URL(away.url ?? '').port} (${away.url}). Check that it runs, and that mcp[0].url is its address.`,
    );
  });
});

describe('a streamable HTTP server that keeps sessions', () => {
  /** The 2025 handshake by hand; `hang` never answers. */
  async function serve(): Promise<{ url: string; log: string[]; hanging: Promise<void>; close(): void }> {
    const log: string[] = [];
    const hanging = Promise.withResolvers<void>();
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const asked = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string; params?: JsonObject };
        const { id, method = '', params } = asked;
        const name = typeof params?.['name'] === 'string' ? ` ${params['name']}` : '';
        log.push(`${request.method} ${method}${name} ${String(request.headers['mcp-session-id'])}`);
        response.on('close', () => log.push(response.writableFinished ? 'answered' : `cut${name}`));
        const result = RESULTS[method];
        response.setHeader('content-type', 'application/json');
        if (name === ' hang') return hanging.resolve();
        if (result === undefined) response.statusCode = request.method === 'GET' ? 405 : 202;
        if (method === 'initialize') response.setHeader('mcp-session-id', 's-1');
        if (method === 'server/discover') {
          response.statusCode = 400;
          return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } }));
        }
        response.end(result === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/mcp`, log, hanging: hanging.promise, close };
  }
  const RESULTS: Record<string, unknown> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [{ name: 'hang', inputSchema: { type: 'object' } }] },
  };

  test('is told that the session is over; a cancel cuts the call within a second, as the server sees it', async () => {
    const server = await serve();
    const source = await openServers([{ name: 'kept', url: server.url, mode: 'live', timeout_ms: 10_000 }]);
    const stop = new AbortController();
    const call = ask(source, 'hang', {}, stop.signal);
    await server.hanging;
    const at = performance.now();
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await source.close();
    await eventually('the call to be cut', () => Promise.resolve(server.log.includes('cut hang')));
    expect(performance.now() - at).toBeLessThan(1_000);
    expect(server.log).toContain('DELETE  s-1');
    server.close();
  });
});

describe('a recording', () => {
  const recorded = (part: Partial<McpServerConfig> = {}): McpServerConfig =>
    stdio({ recording: 'recordings/orders.jsonl', mode: 'record', ...part });
  /** The server of a replay could not be started: it is not touched. */
  const replayed: McpServerConfig = {
    name: 'orders',
    command: 'no-such-program',
    recording: 'recordings/orders.jsonl',
    mode: 'replay',
    timeout_ms: 1,
  };

  test('replays tools, answers in their order, and errors, without the server', async () => {
    const live = await openServers([recorded()]);
    const answers = [];
    for (const tool of ['count', 'count', 'refuse']) answers.push(await ask(live, tool));
    const got = await ask(live, 'get_order', { order: 1 });
    const again = await openServers([replayed]);
    expect(again.tools).toEqual(live.tools);
    const replay = [];
    for (const tool of ['count', 'count', 'refuse']) replay.push(await ask(again, tool));
    expect(replay).toEqual(answers);
    expect(await ask(again, 'get_order', { order: 1 })).toEqual(got);
    // The last answer again and again.
    expect((await ask(again, 'count')).result).toBe('call 2');
  });

  test('a case gets its own answers; a call never recorded is reported as unmatched', async () => {
    const first = await openServers([recorded()], { id: 'a' });
    await ask(first, 'count');
    const second = await openServers([recorded()], { id: 'b' });
    await ask(second, 'refuse');
    await ask(second, 'count');
    await ask(second, 'count');
    const replayOf = async (id: string): Promise<unknown[]> => {
      const source = await openServers([replayed], { id });
      return [(await ask(source, 'count')).result, (await ask(source, 'count')).result];
    };
    expect(await replayOf('b')).toEqual(['call 1', 'call 2']);
    expect(await replayOf('a')).toEqual(['call 1', 'call 1']);
    expect(await replayOf('never seen')).toEqual(['call 1', 'call 1']);
    const source = await openServers([replayed], { id: 'b' });
    expect(await ask(source, 'get_order', { order: 5 })).toMatchObject({
      unmatched: true,
      error: { kind: 'not_recorded' },
    });
  });

  test('without the tool that `tools` names is the user’s error', async () => {
    await openServers([recorded()]);
    await expect(openServers([{ ...replayed, tools: ['cuont'] }])).rejects.toThrow(
      'mcp[0].tools: the recording of orders has no tool "cuont" (did you mean "count"?)',
    );
  });

  test('a case that was recorded again is replayed as it was last', async () => {
    await ask(await openServers([recorded()]), 'count');
    const again = await openServers([recorded()]);
    await ask(again, 'refuse');
    for (let n = 0; n < 3; n += 1) await ask(again, 'count');
    const source = await openServers([replayed]);
    const results = [];
    for (let n = 0; n < 3; n += 1) results.push((await ask(source, 'count')).result);
    expect(results).toEqual(['call 1', 'call 2', 'call 3']);
  });

  test('holds no secret of the worker', async () => {
    const env = { PATH: process.env['PATH'] ?? '', MCP_BY: TOKEN };
    const source = await openServers([recorded({ env: ['MCP_BY'] })], { env });
    await ask(source, 'get_order', { order: 1 });
    const file = readFileSync(path.join(folder, 'recordings/orders.jsonl'), 'utf8');
    expect(file).toContain('"order":1');
    expect(file).not.toContain(TOKEN);
  });

  test('that is not there, or is none, is the user’s error with its place', async () => {
    await expect(openServers([replayed])).rejects.toThrow(/orders\.jsonl cannot be read/);
    writeFileSync(path.join(folder, 'bad.jsonl'), '\n{"type": "call", "server": "orders"}\n');
    await expect(openServers([{ ...replayed, recording: 'bad.jsonl' }])).rejects.toThrow(/bad\.jsonl:2: expected/);
  });
});

describe('in a trial', () => {
  test('the agent is offered the tools beside the suite’s, and its calls are recorded; a fixture answers in the place of the server', async () => {
    const model = scripted(calls(call('get_order', { order: 3 }), call('count', {})), text('done'));
    const trajectory = await createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
      inputOf({
        model,
        suiteRoot: folder,
        evalCase: caseOf({ mock: { tools: [{ tool: 'count', replies: [{ fail: { kind: 'rate_limit' } }] }] } }),
        suite: suiteOf({ tools: [{ name: 'own' }], mcp: [stdio({ tools: ['get_order', 'count'] })] }),
      }),
    );
    expect(trajectory.available_tools.map(({ name }) => name)).toEqual(['own', 'get_order', 'count']);
    expect(trajectory.tool_calls.map(({ result, error }) => error?.kind ?? result)).toEqual([
      { id: 3, by: '-' },
      'rate_limit',
    ]);
  });

  test('a case that lists its tools is offered those alone, with the server’s definition', async () => {
    const model = scripted(text('done'));
    const trajectory = await createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
      inputOf({
        model,
        suiteRoot: folder,
        evalCase: caseOf({ tools: ['own', 'get_order'] }),
        suite: suiteOf({ tools: [{ name: 'own' }, { name: 'other' }], mcp: [stdio()] }),
      }),
    );
    expect(trajectory.available_tools.map(({ name, description }) => [name, description])).toEqual([
      ['own', undefined],
      ['get_order', 'Looks up an order.'],
    ]);
  });

  test('a cancel in the middle of a call ends the trial and its server within a second', async () => {
    const stop = new AbortController();
    let pids: number[] = [];
    const model = scripted(calls(call('processes', {})), (request) => {
      pids = (request.messages.at(-1)?.content ?? '').split(' ').map(Number);
      return calls(call('hang', {}));
    });
    const running = createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
      inputOf({ model, suiteRoot: folder, suite: suiteOf({ tools: [], mcp: [stdio()] }), signal: stop.signal }),
    );
    await eventually('the call', () => Promise.resolve(pids.length === 2));
    const at = performance.now();
    stop.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('the processes to end', () => Promise.resolve(!pids.some(isRunning)));
    expect(performance.now() - at).toBeLessThan(1_000);
  });

  test('the time a server takes to start is not the agent’s', async () => {
    const slow = stdio({ command: '/bin/sh', args: ['-c', `sleep 0.6; exec '${process.execPath}' '${SERVER}'`] });
    const trajectory = await createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
      inputOf({
        model: scripted(text('done')),
        suiteRoot: folder,
        evalCase: caseOf({ timeout_ms: 500 }),
        suite: suiteOf({ tools: [], mcp: [slow] }),
      }),
    );
    expect(trajectory.final_status).toBe('COMPLETED');
  });

  test('a worker that was killed leaves no server running', async () => {
    const file = path.join(folder, 'pids');
    const parent = spawn(process.execPath, [path.join(import.meta.dirname, 'parent.ts'), SERVER, file], {
      stdio: 'inherit',
    });
    await eventually('the server to start', () => Promise.resolve(existsSync(file)));
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await eventually('the processes to end', () => Promise.resolve(!pids.some(isRunning)));
  });

  test('a server that exits leaves the trial going on, its outcome recorded', async () => {
    const model = scripted(calls(call('exit', {})), text('the printer is out of order'));
    const trajectory = await createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
      inputOf({ model, suiteRoot: folder, suite: suiteOf({ tools: [], mcp: [stdio()] }) }),
    );
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'the printer is out of order' });
    expect(trajectory.tool_calls[0]?.error?.kind).toBe('server_gone');
  });
});
