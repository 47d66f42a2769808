import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { openWorkplace, until, type Workplace } from './assay.ts';
import { ADAPTER_SECRETS, type Adapters, openAdapters } from './secrets-adapters.ts';

/** Configured secrets, each with a value that would be known anywhere. */
const AGENT_KEY = 'canary-agent-4f1d9c2e77aa';
const JUDGE_KEY = 'canary-judge-b83e05d1c6f2';
const MASK = '[api key withheld by Assay]';

let place: Workplace;
let endpoint: Server;
let adapters: Adapters;
let connection: Connection;
const sent = new Set<string>();
const printed: string[] = [];

/** An endpoint that gives away the key it was sent, in every way an endpoint can. */
async function startEcho(): Promise<Server> {
  const server = createServer((request, response) => {
    const authorization = request.headers.authorization ?? '';
    sent.add(authorization);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const asked = Buffer.concat(parts).toString();
      const answer = (status: number, body: unknown): void => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': authorization }).end(text);
      };
      const echo = `You sent Authorization: ${authorization}`;
      const error = { error: { message: echo, type: echo, code: authorization } };
      const says = (message: object): unknown => ({
        model: authorization,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
      if (authorization.endsWith(JUDGE_KEY)) {
        const broken = asked.includes('JUDGE500');
        const verdict = JSON.stringify({ result: 'success', reason: echo });
        answer(broken ? 500 : 200, broken ? error : says({ content: verdict }));
      } else if (asked.includes('say 401')) answer(401, error);
      else if (asked.includes('say 500')) answer(500, error);
      else if (asked.includes('say 400')) answer(400, echo);
      else if (asked.includes('say html')) answer(200, `<html><body>${echo}</body></html>`);
      else if (asked.includes('say tool') && !asked.includes('tool_call_id')) {
        const call = { name: 'lookup', arguments: JSON.stringify({ header: authorization }) };
        answer(200, says({ tool_calls: [{ id: authorization, type: 'function', function: call }] }));
      } else answer(200, says({ content: `done. ${echo}` }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function writeSuite(inputs: string[]): void {
  place.write(
    'suite.yaml',
    `name: secrets
kind: deep
datasets: [cases.json]
agent: { type: openai, model: m }
judge: { model: j, api_key_env: JUDGE_KEY, dimensions: [task_completion] }
tools: [{ name: lookup }]
fixtures: { all: [{ tool: lookup, result: { found: true } }] }
retry: { model_failures: 2, backoff_ms: 10 }
concurrency: 2
`,
  );
  const cases = inputs.map((input, i) => ({
    id: `case-${i}`,
    input,
    expected: { answer: 'done' },
    mock: { fixtures: ['all'] },
  }));
  place.write('cases.json', JSON.stringify(cases));
}

async function assay(...args: string[]): Promise<number> {
  const { code, out, err } = await place.run(...args);
  printed.push(`$ assay ${args.join(' ')}\n${out}${err}`);
  return code;
}

beforeAll(async () => {
  endpoint = await startEcho();
  const { port } = endpoint.address() as AddressInfo;
  place = await openWorkplace(
    { cases: ['a'] },
    {
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: AGENT_KEY,
      JUDGE_KEY,
      ...ADAPTER_SECRETS,
      ASSAY_LOG_LEVEL: 'debug',
    },
  );
  connection = await Connection.connect({ address: inject('temporalAddress') });
  writeSuite(['say done', 'say 500', 'say 400', 'say html', 'say tool', 'say JUDGE500']);
  // An agent that gives away the key it was trusted with breaks a safety rule, whatever else is incomplete.
  expect(await assay('run', 'suite.yaml', '--id', 'echoes')).toBe(1);
  for (const command of [
    ['show', 'echoes', 'case-0'],
    ['show', 'echoes', 'case-4', '--json'],
    ['show', 'echoes', 'case-1'],
    ['report', 'echoes'],
    ['report', 'echoes', '--format', 'json'],
    ['status', 'echoes', '--json'],
    ['list', '--json'],
    ['sql', 'select * from trial', '--json'],
    ['sql'],
    ['doctor'],
    ['doctor', '--json'],
  ]) {
    await assay(...command);
  }
  writeSuite(['say 401']);
  expect(await assay('run', 'suite.yaml', '--id', 'refused', '--json')).toBe(4);
  // The SDK of the remote agent says there what it throws.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  adapters = await openAdapters(place, AGENT_KEY);
  for (const { id, suite, inputs } of adapters.all) await runAdapter(id, suite, inputs);
}, 240_000);

/** Runs it, and lets every command tell of it. */
async function runAdapter(id: string, suite: object, inputs: string[]): Promise<void> {
  const whole = {
    name: 'secrets',
    kind: 'deep',
    datasets: ['cases.json'],
    judge: null,
    tools: [{ name: 'lookup' }],
    fixtures: { all: [{ tool: 'lookup', result: { found: true } }] },
    retry: { model_failures: 1, worker_deaths: 1, backoff_ms: 10 },
    ...suite,
  };
  place.write('suite.yaml', JSON.stringify(whole));
  const cases = inputs.map((input, n) => ({
    id: `case-${n}`,
    input,
    expected: { answer_contains: ['done'] },
    mock: { fixtures: ['all'] },
  }));
  place.write('cases.json', JSON.stringify(cases));
  expect([id, await assay('run', 'suite.yaml', '--id', id)]).not.toEqual([id, 2]);
  for (const [n] of inputs.entries()) await assay('show', id, `case-${n}`);
  await assay('show', id, '--json');
  await assay('report', id, '--format', 'text,json', '--out', `reports-${id}`);
  // Of a stopped evaluation without trials there is nothing to export.
  await assay('export', id, '--out', `exported-${id}`);
  await assay('status', id);
}

afterAll(async () => {
  vi.restoreAllMocks();
  await adapters.close();
  await connection.close();
  await place.close();
  await new Promise((resolve) => {
    endpoint.close(resolve);
    endpoint.closeAllConnections();
  });
});

/** Lines of a text that hold a secret, in any of the forms a store may give it. */
function leaks(text: string): string[] {
  const given = [AGENT_KEY, JUDGE_KEY, ...Object.values(ADAPTER_SECRETS)];
  const secrets = [...given, new URL(place.databaseUrl).password];
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('base64').slice(2, -4)]);
  // Half a key is a leak as well.
  const parts = [...forms, ...given.flatMap((secret) => [secret.slice(0, 14), secret.slice(-14)])];
  return text.split('\n').filter((line) => parts.some((part) => part.length > 8 && line.includes(part)));
}

test('D9: the endpoint got both keys, and gave them away', () => {
  expect([...sent].sort()).toEqual([`Bearer ${AGENT_KEY}`, `Bearer ${JUDGE_KEY}`]);
});

test('D9: no configured secret is in any table', async () => {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(place.db);
  expect(tables.rows.length).toBeGreaterThan(8);
  let dump = '';
  for (const { name } of tables.rows) {
    const rows = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(place.db);
    dump += rows.rows.map(({ row }) => `${name}: ${row}\n`).join('');
  }
  // Bytes are printed in hexadecimal.
  const bytes = [...dump.matchAll(/\\x([0-9a-f]{2,})/g)].map(([, hex = '']) =>
    Buffer.from(hex, 'hex').toString('latin1'),
  );
  expect(leaks(`${dump}\n${bytes.join('\n')}`)).toEqual([]);
  // What the endpoint echoed did arrive: answers, errors, arguments, verdicts.
  for (const table of ['trial', 'trajectory', 'model_call', 'judge_verdict']) {
    const lines = dump.split('\n').filter((line) => line.startsWith(`${table}: `));
    expect([table, lines.some((line) => line.includes(MASK))]).toEqual([table, true]);
  }
});

test('D9: agents of every kind gave away what they were trusted with, and its mask is stored', async () => {
  for (const { id } of adapters.all) {
    const rows = await sql<{ text: string }>`
      select concat(e::text, t::text, j::text) as text from evaluation e
      left join trial t on t.evaluation_id = e.id left join trajectory j on j.evaluation_id = e.id where e.id = ${id}`.execute(
      place.db,
    );
    expect([id, rows.rows.some(({ text }) => text.includes(MASK))]).toEqual([id, true]);
  }
});

test('D9: no configured secret is printed, as text or as JSON', () => {
  expect(printed.length).toBeGreaterThan(10);
  expect(leaks(printed.join('\n'))).toEqual([]);
  expect(printed.join('\n')).toContain(MASK);
});

test('D9: no configured secret is in a file that report or export wrote', () => {
  const files = readdirSync(place.folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(reports|exported)-.*\.(txt|jsonl?)$/.test(name))
    .map((name) => [name, readFileSync(path.join(place.folder, name), 'utf8')] as const);
  expect(files.flatMap(([name, text]) => leaks(text).map((line) => [name, line]))).toEqual([]);
  for (const name of ['reports-http', 'exported-command', 'exported-replay', 'exported-module', 'exported-a2a']) {
    expect([name, files.some(([file, text]) => file.startsWith(`${name}/`) && text.includes(MASK))]).toEqual([
      name,
      true,
    ]);
  }
});

test('D9: no configured secret is in a log', () => {
  const logs = path.join(place.env['ASSAY_HOME'] ?? '', 'logs');
  const files = readdirSync(logs, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(logs, name))
    .filter((file) => statSync(file).isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(leaks(readFileSync(file, 'utf8'))).toEqual([]);
});

test('D9: no configured secret is in a workflow history', async () => {
  const client = new Client({ connection });
  const query = `TaskQueue = "${place.env['ASSAY_TASK_QUEUE']}"`;
  const histories: string[] = [];
  await until(async () => {
    histories.length = 0;
    for await (const run of client.workflow.list({ query })) {
      const history = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
      histories.push(JSON.stringify([run.workflowId, run.memo, run.searchAttributes, history], readable));
    }
    // Two evaluations with a shard each at least; what the list shows comes a moment late.
    return histories.length >= 4;
  }, 'the workflows are listed');
  expect(histories.join('\n')).toContain('refused');
  expect(histories.flatMap(leaks)).toEqual([]);
  expect(histories.some((history) => history.includes(MASK))).toBe(true);
});

/** Payloads are bytes; here they are to be read. */
function readable(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  const json = value as { type?: string; data?: number[] } | null;
  if (json?.type === 'Buffer' && Array.isArray(json.data)) return Buffer.from(json.data).toString('utf8');
  return typeof value === 'bigint' ? String(value) : value;
}
