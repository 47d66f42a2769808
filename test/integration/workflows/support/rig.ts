import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { startEvaluation, workflowIdOf } from '../../../../src/commands/run/start-evaluation.ts';
import { type Config, readConfig } from '../../../../src/config.ts';
import type { EvalCase } from '../../../../src/core/case.ts';
import { hashValue } from '../../../../src/core/hash.ts';
import { suiteSchema } from '../../../../src/core/suite.schema.ts';
import type { Suite } from '../../../../src/core/suite.ts';
import { connect, type Db } from '../../../../src/db/connect.ts';
import { createEvaluation, type NewEvaluation } from '../../../../src/db/create-evaluation.ts';
import { type EvaluationRow, findEvaluation, reopenEvaluation } from '../../../../src/db/evaluations.ts';
import { newEvaluation } from '../../../../src/db/new-evaluation.ts';
import { scriptSchema, toScript } from '../../../../src/scripted-model/script.schema.ts';
import { type ScriptedModel, startScriptedModel } from '../../../../src/scripted-model/server.ts';
import { type RunningWorker, startWorker } from '../../../../src/worker.ts';
import { createTestDatabase } from '../../../fixtures/database.ts';

/** What a test says of a suite; everything else has the suite's defaults. */
interface SuiteParts {
  cases: EvalCase[];
  suite?: Record<string, unknown>;
  agent?: Record<string, unknown>;
  options?: Partial<Parameters<typeof newEvaluation>[1]>;
  suiteRoot?: string;
}

export interface TestModel extends ScriptedModel {
  /** When each reply was sent, milliseconds since the epoch; replies without delay are sent on arrival. */
  sentAt: number[];
  control(body: object): Promise<void>;
}

/** A database, a Temporal client and workers of one test file. */
export interface Rig {
  db: Db;
  databaseUrl: string;
  client: Client;
  config: Config;
  /** Lines the workers logged. */
  log: string[];
  /** Starts one more worker; closed with the rig unless stopped before. */
  worker(): Promise<RunningWorker>;
  model(script: object, options?: { port?: number }): Promise<TestModel>;
  /** Stores an evaluation of a suite on this endpoint without starting its workflow. */
  create(model: { url: string }, parts: SuiteParts): Promise<EvaluationRow>;
  start(row: EvaluationRow): Promise<void>;
  /** Creates and starts; returns the id. */
  run(model: { url: string }, parts: SuiteParts): Promise<string>;
  /** Creates, starts and waits for the end. */
  evaluate(model: { url: string }, parts: SuiteParts): Promise<EvaluationRow>;
  /** Waits for a terminal status and for the workflow to have completed. */
  ended(id: string, boundMs?: number): Promise<EvaluationRow>;
  resume(id: string, changes?: { budgetUsd?: number; concurrency?: number }): Promise<void>;
  close(): Promise<void>;
}

export interface RigOptions {
  env?: Record<string, string>;
  /** Workers to start with; default 1. */
  workers?: number;
  /** Another Temporal than the shared one. */
  temporalAddress?: string;
}

const KEY = 'sk-test-not-a-real-key';

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const database = await createTestDatabase();
  const address = options.temporalAddress ?? inject('temporalAddress');
  const taskQueue = `test-${randomBytes(5).toString('hex')}`;
  const kept = { HOME: process.env['HOME'], XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'], PATH: process.env['PATH'] };
  const config = readConfig({
    ...kept,
    OPENAI_API_KEY: KEY,
    ASSAY_TASK_QUEUE: taskQueue,
    ASSAY_LOG_LEVEL: 'error',
    // Long enough for a busy machine: a worker that is late is taken for dead, and its calls are made again.
    ASSAY_HEARTBEAT_TIMEOUT_MS: '5000',
    ...options.env,
  });
  const db = connect(database.url, { poolSize: 4 });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const log: string[] = [];
  const workers = new Set<RunningWorker>();
  const models = new Set<TestModel>();
  const worker = async (): Promise<RunningWorker> => {
    const started = await startWorker({
      config,
      databaseUrl: database.url,
      connectionOptions: { address },
      cwd: process.cwd(),
      log: (line) => void log.push(line),
    });
    const stopOnce = started.stop;
    const running = {
      failed: started.failed,
      stop: () => (workers.delete(running) ? stopOnce() : Promise.resolve()),
    };
    workers.add(running);
    return running;
  };
  for (let count = 0; count < (options.workers ?? 1); count += 1) await worker();

  const create: Rig['create'] = async (model, parts) => {
    const evaluation = prepareEvaluation(model.url, parts);
    await createEvaluation(db, evaluation);
    return (await findEvaluation(db, evaluation.id)) as EvaluationRow;
  };
  const start = (row: EvaluationRow): Promise<void> => startEvaluation(client, taskQueue, row);
  const run: Rig['run'] = async (model, parts) => {
    const row = await create(model, parts);
    await start(row);
    return row.id;
  };
  const ended: Rig['ended'] = async (id, boundMs = 40_000) => {
    const result = client.workflow.getHandle(workflowIdOf(id)).result();
    await Promise.race([
      result,
      sleep(boundMs, undefined, { ref: false }).then(() => {
        throw new Error(`evaluation ${id} did not end in ${boundMs} ms\n${log.slice(-10).join('\n')}`);
      }),
    ]);
    return (await findEvaluation(db, id)) as EvaluationRow;
  };
  return {
    db,
    databaseUrl: database.url,
    client,
    config,
    log,
    worker,
    create,
    start,
    run,
    ended,
    async model(script, modelOptions = {}) {
      const model = await startTestModel(script, modelOptions.port ?? 0);
      models.add(model);
      return model;
    },
    evaluate: async (model, parts) => ended(await run(model, parts)),
    async resume(id, changes = {}) {
      await reopenEvaluation(db, id, changes);
      await start((await findEvaluation(db, id)) as EvaluationRow);
    },
    async close() {
      await Promise.all([...workers].map((one) => one.stop()));
      await Promise.allSettled([...models].map((model) => model.close()));
      await connection.close();
      await db.destroy();
      await database.drop();
    },
  };
}

async function startTestModel(script: object, port = 0): Promise<TestModel> {
  const sentAt: number[] = [];
  const now = (): number => {
    sentAt.push(Date.now());
    return Date.now();
  };
  const model = await startScriptedModel({ script: toScript(scriptSchema.parse(script), null), now, port });
  return {
    ...model,
    sentAt,
    async control(body) {
      const response = await fetch(model.url.replace(/v1$/, 'control'), { method: 'POST', body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`control: ${response.status} ${await response.text()}`);
    },
  };
}

/** An evaluation as `assay run` makes it, of a suite written here. */
function prepareEvaluation(url: string, parts: SuiteParts): NewEvaluation {
  const suite: Suite = suiteSchema.parse({
    name: 'orders',
    datasets: ['cases.jsonl'],
    agent: { type: 'openai', model: 'scripted-1', base_url: url, ...parts.agent },
    retry: { backoff_ms: 20 },
    gates_off: ['case_pass_rate', 'tool_score'],
    prices: { 'scripted-1': { input: 1, output: 2 }, 'scripted-judge': { input: 1, output: 2 } },
    ...parts.suite,
    ...(parts.suite?.['judge'] === undefined || parts.suite['judge'] === null
      ? {}
      : { judge: { model: 'scripted-judge', base_url: url, ...(parts.suite['judge'] as object) } }),
  });
  const caseHashes = new Map(parts.cases.map((one) => [one.id, hashValue(one)]));
  return newEvaluation(
    {
      suite,
      suitePath: 'suite.yaml',
      suiteRoot: parts.suiteRoot ?? process.cwd(),
      cases: parts.cases,
      caseHashes,
      hashes: { suite: hashValue(suite), data: hashValue([...caseHashes.values()]), agent: hashValue(suite.agent) },
    },
    { env: {}, now: new Date(), ...parts.options },
  );
}

/** `count` cases with a check the scripted answer `echo N` passes. */
export function echoCases(count: number, more: Partial<EvalCase> = {}): EvalCase[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `case-${String(index).padStart(4, '0')}`,
    input: `say ${index}.`,
    expected: { answer_contains: [`echo ${index}.`] },
    ...more,
  }));
}

/** Cases that only the judge can decide. */
export function judgedCases(count: number): EvalCase[] {
  return echoCases(count).map((one, index) => ({ ...one, expected: { answer: `echo ${index}.` } }));
}

/** Answers `say N.` with `echo N.`; what has no tools and speaks of criteria is the judge. */
export const ECHO = {
  when: { model: 'scripted-1', user_matches: 'say (\\d+)\\.' },
  reply: { content: 'echo {{match.1}}.' },
  allow_repeat: true,
};
export const JUDGE = {
  name: 'judge',
  when: { model: 'scripted-judge' },
  reply: { json: { result: 'success', reason: 'it answers the question' } },
  allow_repeat: true,
};
export const ECHO_SCRIPT = { model: 'scripted-1', rules: [JUDGE, ECHO] };
