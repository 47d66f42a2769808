import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { connect, type Db } from '../../../src/db/connect.ts';
import { embeddedDatabaseUrl } from '../../../src/local/postgres-server.ts';
import { readStackRecord } from '../../../src/local/stack-record.ts';
import { ensureDatabaseOnly, stopStack } from '../../../src/local/stack.ts';
import { cleanEnv, eventually, type Program, runAssay, startAssay } from './program.ts';

/** A folder with a suite of 60 cases, an embedded stack of its own and a scripted model in its own process. */
export interface Lab {
  folder: string;
  home: string;
  env: Record<string, string>;
  model: {
    url: string;
    stats(): Promise<ModelStats>;
    control(body: object): Promise<void>;
    reset(): Promise<void>;
    program: Program;
  };
  start(args: string[]): Program;
  run(args: string[], boundMs?: number): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** kill -9; what watches over the server (the stack, or the lab) starts it again on the same data. */
  killTemporal(): Promise<void>;
  killPostgres(): Promise<void>;
  /** Opens the lab's database; the stack must be up. */
  db(): Promise<Db>;
  close(): Promise<void>;
}

interface ModelStats {
  calls: number;
  answered: number;
  inFlight: number;
  aborted: number;
  tokens: { input: number; output: number; total: number };
}

export interface LabOptions {
  cases?: number;
  trials?: number;
  concurrency?: number;
  delayMs?: number;
  /** Without a judge a trial is one activity. Default true. */
  judge?: boolean;
  env?: Record<string, string>;
  /** Keys of the suite in place of the lab's. */
  suite?: Record<string, unknown>;
  /** Further files of the folder. */
  files?: Record<string, string>;
  /** Rules of the scripted model before the lab's. */
  rules?: object[];
  /** Brings up a Temporal of another kind on the lab's Postgres; default: the embedded one. */
  temporal?: (place: {
    databaseUrl: string;
    workDir: string;
  }) => Promise<{ address: string; pid: number; kill(): Promise<void> }>;
}

/** Model calls of one trial: a tool call, the answer, and the judge. */
export const CALLS_PER_TRIAL = 3;

export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-lab-'));
  chmodSync(folder, 0o755);
  const home = path.join(folder, '.assay');
  mkdirSync(home);
  writeSuite(folder, options);
  const base = cleanEnv({ ASSAY_HOME: home, NO_COLOR: '1', ...options.env });
  const program = startAssay(['mock-model', path.join(folder, 'model.yaml'), '--port', '0'], {
    cwd: folder,
    env: base,
  });
  const [, url = ''] = await program.until(/listening on (http:\S+\/v1)/);
  const root = url.replace(/\/v1$/, '');
  const other = options.temporal === undefined ? null : await otherTemporal(home, folder, options.temporal);
  const env = {
    ...base,
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'sk-lab-not-a-real-key',
    ...(other === null ? {} : { TEMPORAL_ADDRESS: other.address() }),
  };
  const post = async (place: string, body: object): Promise<void> => {
    const response = await fetch(`${root}${place}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`${place}: ${response.status} ${await response.text()}`);
  };
  const databases: Db[] = [];
  // While a server is started again it has no pid, or one that is gone.
  const killServer = async (name: 'temporal' | 'postgres'): Promise<void> => {
    await eventually(`a running ${name} to kill`, async () => {
      const pid = readStackRecord(home, () => undefined)[name]?.process?.pid;
      return pid !== undefined && process.kill(pid, 'SIGKILL');
    });
  };
  return {
    folder,
    home,
    env,
    model: {
      url,
      program,
      stats: async () => (await fetch(`${root}/stats`)).json() as Promise<ModelStats>,
      control: (body) => post('/control', body),
      reset: () => post('/reset', {}),
    },
    start: (args) => startAssay(args, { cwd: folder, env }),
    run: (args, boundMs = 180_000) => runAssay(args, { cwd: folder, env, boundMs }),
    async killTemporal() {
      if (other !== null) return other.restart();
      await killServer('temporal');
    },
    killPostgres: () => killServer('postgres'),
    async db() {
      const database = await eventually('the database of the lab', async () => {
        const port = readStackRecord(home, () => undefined).postgres?.port;
        if (port === undefined) return null;
        const candidate = connect(embeddedDatabaseUrl(home, port), { poolSize: 2 });
        await sql`select 1`.execute(candidate);
        return candidate;
      });
      databases.push(database);
      return database;
    },
    async close() {
      for (const database of databases) await database.destroy().catch(() => undefined);
      program.kill('SIGKILL');
      await other?.close();
      await program.exited;
      await stopStack({ home, log: () => undefined });
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A Temporal that keeps its data in the lab's own Postgres; the lab starts it again after a kill, as an orchestrator would. */
async function otherTemporal(
  home: string,
  folder: string,
  start: NonNullable<LabOptions['temporal']>,
): Promise<{ address(): string; restart(): Promise<void>; close(): Promise<void> }> {
  const held = [await ensureDatabaseOnly({ home, env: {}, log: () => undefined })];
  const place = { databaseUrl: held[0]?.databaseUrl ?? '', workDir: path.join(folder, 'temporal-server') };
  let server = await start(place);
  return {
    address: () => server.address,
    async restart() {
      await server.kill();
      // Its database comes first.
      held.push(await ensureDatabaseOnly({ home, env: {}, log: () => undefined }));
      server = await start(place);
    },
    async close() {
      await server.kill();
      for (const postgres of held) await postgres.release();
    },
  };
}

/** Every seventh case is answered wrongly, every eleventh judged a partial success: results worth comparing bit by bit. */
function writeSuite(folder: string, options: LabOptions): void {
  const { cases = 60, trials = 3, concurrency = 20, delayMs = 250, judge = true } = options;
  const rows = Array.from({ length: cases }, (_, index) => ({
    id: `order-${String(index).padStart(5, '0')}`,
    input: `What is the status of order ${index}?`,
    category: ['delivery', 'refund', 'invoice'][index % 3],
    expected: {
      calls: [{ tool: 'get_order', args: { order: String(index) } }],
      ...(judge ? { answer: `order ${index} is shipped` } : { answer_contains: [`order ${index} is shipped`] }),
    },
    mock: { tools: [{ tool: 'get_order', replies: [{ result: { order: index, status: 'shipped' } }] }] },
  }));
  writeFileSync(path.join(folder, 'cases.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const suite = {
    name: 'orders',
    kind: 'benchmark',
    datasets: ['cases.jsonl'],
    tools: [
      {
        name: 'get_order',
        description: 'Looks an order up.',
        parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      },
    ],
    agent: { type: 'openai', model: 'scripted-1', seed: 100, system_prompt: 'You answer questions about orders.' },
    judge: judge ? { model: 'scripted-judge', dimensions: ['task_completion'] } : null,
    trials,
    concurrency,
    retry: { backoff_ms: 200 },
    prices: { 'scripted-1': { input: 1, output: 2 }, 'scripted-judge': { input: 1, output: 2 } },
    gates: [{ name: 'completion_rate', metric: 'completion_rate', min: 0.5 }],
    gates_off: ['case_pass_rate', 'tool_score'],
    ...options.suite,
  };
  for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(path.join(folder, name), text);
  writeFileSync(path.join(folder, 'suite.yaml'), JSON.stringify(suite, null, 2));
  const script = {
    model: 'scripted-1',
    delay_ms: delayMs,
    rules: [
      ...(options.rules ?? []),
      {
        name: 'wrong-order',
        when: { has_tool: 'get_order', turn: 0, user_matches: 'order (\\d*[07])\\?' },
        reply: { tool_calls: [{ name: 'get_order', arguments: { order: 'x{{match.1}}' } }] },
      },
      {
        name: 'look-up',
        when: { has_tool: 'get_order', turn: 0, user_matches: 'order (\\d+)\\?' },
        reply: { tool_calls: [{ name: 'get_order', arguments: { order: '{{match.1}}' } }] },
      },
      {
        name: 'answer',
        when: { after_tool: 'get_order', user_matches: 'order (\\d+)\\?' },
        reply: { content: 'order {{match.1}} is shipped' },
      },
      {
        name: 'judge-partial',
        when: { no_tools: true, contains: 'order 11 ' },
        reply: { json: { result: 'partial', reason: 'the date is missing' } },
      },
      {
        name: 'judge',
        when: { no_tools: true },
        reply: { json: { result: 'success', reason: 'it answers the question' } },
      },
    ],
  };
  writeFileSync(path.join(folder, 'model.yaml'), JSON.stringify(script, null, 2));
}
