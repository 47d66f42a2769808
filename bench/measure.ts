import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { ensureStack } from '../src/local/stack.ts';
import { readStackRecord } from '../src/local/stack-record.ts';
import { watchProcesses } from './processes.ts';

const root = path.resolve(import.meta.dirname, '..');
/** Compiled, as the package is: what a user runs. */
const entry = path.join(root, 'dist/src/client.js');

export interface BenchCase {
  name: string;
  cases: number;
  delayMs: number;
  concurrency: number;
  /** One judge call a trial beside the agent's. */
  judge: boolean;
}

export interface BenchResult {
  case: string;
  trials: number;
  concurrency: number;
  wallS: number;
  /** null at 0 ms: there is no ideal to divide by. */
  idealS: number | null;
  wallOverIdeal: number | null;
  trialsPerS: number;
  /** Rate of the last tenth of the trials over that of the second tenth. */
  rateEndOverStart: number | null;
  cpuS: { worker: number; temporal: number; postgres: number; model: number };
  /** Of the `assay run` process: command and worker together. */
  peakRssMb: number;
  eventsPerTrial: number;
  /** Postgres bytes a trial: rows and indexes of trial, score and case_result. */
  bytesPerTrial: number;
  modelCalls: number;
}

function writeWork(folder: string, bench: BenchCase): void {
  const rows = Array.from({ length: bench.cases }, (_, index) =>
    JSON.stringify({
      id: `case-${index}`,
      input: `Question number ${index}: what is its number?`,
      expected: bench.judge ? { answer: `number ${index}` } : { answer_contains: [`number ${index}`] },
    }),
  );
  writeFileSync(path.join(folder, 'cases.jsonl'), `${rows.join('\n')}\n`);
  const suite = {
    name: 'bench',
    kind: 'deep',
    datasets: ['cases.jsonl'],
    agent: { type: 'openai', model: 'scripted-1', system_prompt: 'Answer.' },
    judge: bench.judge ? { model: 'scripted-judge', dimensions: ['task_completion'] } : null,
    trials: 1,
    concurrency: bench.concurrency,
  };
  writeFileSync(path.join(folder, 'suite.yaml'), JSON.stringify(suite));
  const script = {
    delay_ms: bench.delayMs,
    rules: [
      { name: 'judge', when: { contains: '"partial"' }, reply: { json: { result: 'success', reason: 'right' } } },
      {
        name: 'agent',
        when: { user_matches: 'Question number (\\d+)' },
        reply: { content: 'It is number {{match.1}}.' },
      },
    ],
  };
  writeFileSync(path.join(folder, 'model.yaml'), JSON.stringify(script));
}

/** Runs one benchmark: the stack is up, the model is a process of its own; wall is one `assay run` from start to exit. */
export async function measure(bench: BenchCase, log: (line: string) => void): Promise<BenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-bench-'));
  chmodSync(folder, 0o755);
  const home = path.join(folder, '.assay');
  writeWork(folder, bench);
  const env: Record<string, string> = { ...(process.env as Record<string, string>), ASSAY_HOME: home };
  for (const name of ['TEMPORAL_ADDRESS', 'DATABASE_URL']) delete env[name];
  const stack = await ensureStack({ home, env, log, supervise: false });
  const model = spawn(process.execPath, [entry, 'mock-model', path.join(folder, 'model.yaml'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      model.stdout.on('data', (chunk: Buffer) => {
        const match = /listening on (\S+)/.exec(String(chunk));
        if (match?.[1] !== undefined) resolve(match[1]);
      });
      model.on('exit', () => reject(new Error('the scripted model ended')));
    });
    // The first use of a stack migrates and builds the workflow bundle: not part of the work.
    await command(['run', 'suite.yaml', '--limit', '2', '--id', 'warm', '--no-judge-cache'], {
      folder,
      env: { ...env, OPENAI_BASE_URL: url, OPENAI_API_KEY: 'bench' },
    });
    await fetch(`${url.replace('/v1', '')}/reset`, { method: 'POST', body: '{}' });
    const record = readStackRecord(home, log);
    const startedAt = performance.now();
    const run = spawn(process.execPath, [entry, 'run', 'suite.yaml', '--id', 'bench', '--json'], {
      cwd: folder,
      env: { ...env, OPENAI_BASE_URL: url, OPENAI_API_KEY: 'bench' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    run.stderr.on('data', (chunk: Buffer) => (errors += String(chunk)));
    const watch = watchProcesses({
      worker: run.pid ?? -1,
      temporal: record.temporal?.process?.pid ?? -1,
      postgres: record.postgres?.process?.pid ?? -1,
      model: model.pid ?? -1,
    });
    const code = await new Promise<number | null>((resolve) => run.on('close', resolve));
    const wallS = (performance.now() - startedAt) / 1000;
    const usage = watch.stop();
    if (code !== 0) throw new Error(`assay run ended with ${code}:\n${errors}`);
    const stats = (await (await fetch(`${url.replace('/v1', '')}/stats`)).json()) as { calls: number };
    const calls = bench.judge ? 2 : 1;
    const idealS = bench.delayMs === 0 ? null : (bench.cases * calls * bench.delayMs) / bench.concurrency / 1000;
    return {
      case: bench.name,
      trials: bench.cases,
      concurrency: bench.concurrency,
      wallS: round(wallS),
      idealS,
      wallOverIdeal: idealS === null ? null : round(wallS / idealS),
      trialsPerS: round(bench.cases / wallS),
      ...(await stored(stack.databaseUrl, bench.cases)),
      cpuS: {
        worker: usage['worker']?.cpuS ?? 0,
        temporal: usage['temporal']?.cpuS ?? 0,
        postgres: usage['postgres']?.cpuS ?? 0,
        model: usage['model']?.cpuS ?? 0,
      },
      peakRssMb: usage['worker']?.peakRssMb ?? 0,
      eventsPerTrial: round((await countEvents(stack.temporalAddress)) / bench.cases),
      modelCalls: stats.calls,
    };
  } finally {
    model.kill('SIGKILL');
    await stack.release();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function command(args: string[], options: { folder: string; env: Record<string, string> }): Promise<void> {
  const child = spawn(process.execPath, [entry, ...args], { cwd: options.folder, env: options.env, stdio: 'ignore' });
  await new Promise((resolve) => child.on('close', resolve));
}

async function stored(
  databaseUrl: string,
  trials: number,
): Promise<{ rateEndOverStart: number | null; bytesPerTrial: number }> {
  const { connect } = await import('../src/db/connect.ts');
  const { sql } = await import('kysely');
  const db = connect(databaseUrl, { poolSize: 1 });
  try {
    const size = await sql<{ bytes: number }>`
      select pg_total_relation_size('trial') + pg_total_relation_size('score') + pg_total_relation_size('case_result') as bytes`.execute(
      db,
    );
    const rates = await sql<{ ratio: number | null }>`
      with ended as (
        select extract(epoch from finished_at) as at, ntile(10) over (order by finished_at) as tenth from trial where evaluation_id = 'bench'
      ), rates as (select tenth, count(*) / nullif(max(at) - min(at), 0) as rate from ended group by tenth)
      select (select avg(rate) from rates where tenth in (8, 9)) / (select avg(rate) from rates where tenth in (2, 3)) as ratio`.execute(
      db,
    );
    const ratio = rates.rows[0]?.ratio ?? null;
    return {
      rateEndOverStart: ratio === null ? null : round(ratio),
      bytesPerTrial: Math.round((size.rows[0]?.bytes ?? 0) / trials),
    };
  } finally {
    await db.destroy();
  }
}

async function countEvents(address: string): Promise<number> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  try {
    let events = 0;
    for await (const one of client.workflow.list({ query: 'WorkflowType IN ("evaluation", "shard")' })) {
      if (!one.workflowId.startsWith('evaluation/bench')) continue;
      events += one.historyLength ?? 0;
    }
    return events;
  } finally {
    await connection.close();
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
