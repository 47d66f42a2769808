import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { type Remote, startRemote } from '../../unit/agents/a2a/remote-agent-fixture.ts';
import type { Workplace } from './assay.ts';

/** What each kind of agent is trusted with, and gives away in every way it can. */
export const ADAPTER_SECRETS = {
  HTTP_AGENT_KEY: 'canary-http-0c5e7d21ab93',
  A2A_AGENT_KEY: 'canary-a2a-77f0e4c19d58',
  COMMAND_AGENT_KEY: 'canary-command-5b2a9e8310cf',
  MCP_SERVER_KEY: 'canary-mcp-stdio-e1d7406fb2',
  MCP_HTTP_KEY: 'canary-mcp-http-93c8a50d6e',
};

/** One evaluation: agent and tools of its suite, and what its cases say to it. */
interface Adapter {
  id: string;
  suite: object;
  inputs: string[];
}

/** Agents of every kind, and the services some of them need. */
export interface Adapters {
  all: Adapter[];
  close(): Promise<void>;
}

/** Fills up to where messages are cut, so that a cut falls into the secret. */
const PADS = `const pad = (text, length) => '.'.repeat(length - 15) + text;`;

/** Speaks the command protocol, or MCP as far as it dies; gives `process.env[NAME]` away. */
const PROGRAM = `
import { createInterface } from 'node:readline';
${PADS}
const key = process.env[process.argv[2]];
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
process.stderr.write('log: ' + key + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (process.argv[3] === 'mcp') { process.stderr.write(key + '.'.repeat(485)); process.exit(1); }
  const start = JSON.parse(line);
  if (start.type === 'tool_result') { say({ type: 'result', answer: 'tool said ' + key }); continue; }
  const asked = JSON.stringify(start);
  if (asked.includes('say exit')) { process.stderr.write(key); process.exit(3); }
  else if (asked.includes('say noise')) process.stdout.write(pad(key, 200) + '\\n');
  else if (asked.includes('say crash')) { process.stderr.write(key + '.'.repeat(485)); process.kill(process.pid, 'SIGKILL'); }
  else if (asked.includes('say tool')) say({ type: 'tool_call', id: key, name: 'lookup', arguments: { header: key, [key]: 1 } });
  else say({ type: 'result', answer: 'done ' + key, plan: [key], model: key });
}
`;

const MODULE = `
${PADS}
const key = process.env.OPENAI_API_KEY;
export default async function agent(input, { callTool }) {
  console.log('log: ' + key);
  if (input.includes('say throw')) throw new Error('failed with ' + key);
  if (input.includes('say exit')) { console.error(key + '.'.repeat(485)); process.exit(3); }
  if (input.includes('say wrong')) return { [key]: key };
  if (input.includes('say tool')) return String(await callTool('lookup', { header: key, [key]: 1 }).catch((e) => e.message)) + key;
  return { answer: 'done ' + key, plan: [key] };
}
`;

/** @param key what the replayed recording holds */
export async function openAdapters(place: Workplace, key: string): Promise<Adapters> {
  place.write('program.mjs', PROGRAM);
  place.write('agent.mjs', MODULE);
  const record = (id: string): object => ({
    case_id: id,
    trial: 1,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: `done ${key}` },
    ],
  });
  place.write('recorded.jsonl', [0, 1].map((n) => `${JSON.stringify(record(`case-${n}`))}\n`).join(''));
  const http = await startHttp();
  const remotes: Remote[] = [await startEchoing()];
  const { url = '' } = remotes[0] ?? {};
  const web = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const program = (...args: string[]): string[] => [process.execPath, path.join(place.folder, 'program.mjs'), ...args];
  const module = { type: 'module', path: 'agent.mjs' };
  const stdio = { name: 'x', command: process.execPath, args: program('MCP_SERVER_KEY', 'mcp').slice(1) };
  return {
    all: [
      {
        id: 'http',
        suite: { agent: { type: 'http', url: `${web}/agent`, auth_env: 'HTTP_AGENT_KEY' } },
        inputs: ['say done', 'say 500', 'say 400', 'say html', 'say tool'],
      },
      {
        id: 'http-401',
        suite: { agent: { type: 'http', url: `${web}/401`, auth_env: 'HTTP_AGENT_KEY' } },
        inputs: ['x'],
      },
      {
        id: 'command',
        suite: { agent: { type: 'command', command: program('COMMAND_AGENT_KEY'), pass_env: ['COMMAND_AGENT_KEY'] } },
        inputs: ['say done', 'say exit', 'say noise', 'say crash', 'say tool'],
      },
      {
        id: 'module',
        suite: { agent: module },
        inputs: ['say done', 'say throw', 'say exit', 'say wrong', 'say tool'],
      },
      {
        id: 'a2a',
        suite: { agent: { type: 'a2a', card_url: url, auth_env: 'A2A_AGENT_KEY', poll_interval_ms: 50 } },
        inputs: ['say done', 'say failed', 'say error'],
      },
      { id: 'replay', suite: { agent: { type: 'replay', trajectories: 'recorded.jsonl' } }, inputs: ['hi', 'hi'] },
      { id: 'mcp-stdio', suite: { agent: module, mcp: [{ ...stdio, env: ['MCP_SERVER_KEY'] }] }, inputs: ['say done'] },
      {
        id: 'mcp-http',
        suite: { agent: module, mcp: [{ name: 'y', url: `${web}/mcp`, token_env: 'MCP_HTTP_KEY' }] },
        inputs: ['say done'],
      },
    ],
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await Promise.all(remotes.map((remote) => remote.close()));
    },
  };
}

/** An HTTP agent, and an address that is no MCP server, that answer with the header they were sent. */
async function startHttp(): Promise<Server> {
  const server = createServer((request, response) => {
    const authorization = request.headers.authorization ?? '';
    let asked = '';
    request.on('data', (part: Buffer) => (asked += part.toString()));
    request.on('end', () => {
      const answer = (status: number, body: unknown): void => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      };
      if (request.url !== '/agent') answer(request.url === '/401' ? 401 : 400, authorization);
      else if (asked.includes('say 500')) answer(500, authorization.padStart(510, '.'));
      else if (asked.includes('say 400')) answer(400, { error: authorization });
      else if (asked.includes('say html')) answer(200, authorization.padStart(210, '<'));
      else if (asked.includes('say tool') && !asked.includes('tool_call_id')) {
        answer(200, { pending_calls: [{ id: authorization, name: 'lookup', arguments: { header: authorization } }] });
      } else answer(200, { answer: `done ${authorization}`, plan: [authorization], model: authorization });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function startEchoing(): Promise<Remote> {
  const token = ADAPTER_SECRETS.A2A_AGENT_KEY;
  return startRemote({
    token,
    behaviour(say, { userMessage }) {
      const asked = JSON.stringify(userMessage);
      if (asked.includes('say error')) throw new Error(`broken: ${token}`);
      if (asked.includes('say failed')) return say.status(TaskState.TASK_STATE_FAILED, `refused ${token}`);
      return say.status(TaskState.TASK_STATE_COMPLETED, `done ${token}`);
    },
  });
}
