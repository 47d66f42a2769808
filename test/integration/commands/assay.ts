import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { main } from '../../../src/client.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { loadProgress } from '../../../src/db/missing-trials.ts';
import { createTestDatabase } from '../../fixtures/database.ts';

/** What a command printed, and how it ended. */
interface Ran {
  code: number;
  out: string;
  err: string;
}

/** A folder with a small suite, a database and a task queue of its own; commands run in this process. */
export interface Workplace {
  folder: string;
  db: Db;
  databaseUrl: string;
  suite: string;
  /** What commands see as their environment. */
  env: Record<string, string | undefined>;
  run(...args: string[]): Promise<Ran>;
  write(file: string, text: string): void;
  close(): Promise<void>;
}

export interface SuiteText {
  /** Ids; each case asks `Say <id>` and is answered `<id> said`. */
  cases: string[];
  trials?: number;
  concurrency?: number;
  /** Of every reply, milliseconds. */
  delayMs?: number;
  systemPrompt?: string;
  /** Case by case: what the answer must contain; default `<id> said`. */
  expect?: Record<string, string>;
  /** Further lines of the suite file. */
  more?: string;
}

export async function openWorkplace(text: SuiteText, env: Record<string, string> = {}): Promise<Workplace> {
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-commands-'));
  chmodSync(folder, 0o755);
  const database = await createTestDatabase();
  const db = connect(database.url, { poolSize: 3 });
  const environment = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    DATABASE_URL: database.url,
    // One for all: the worker's logger is made once a process and outlives the folder of a test.
    ASSAY_HOME: path.join(inject('assayHome'), 'commands'),
    ASSAY_TASK_QUEUE: database.name,
    ...env,
  };
  const workplace: Workplace = {
    folder,
    db,
    databaseUrl: database.url,
    suite: path.join(folder, 'suite.yaml'),
    env: environment,
    async run(...args) {
      const ran = { out: '', err: '' };
      const code = await main(['node', 'assay', ...args], {
        env: environment,
        cwd: folder,
        isTty: false,
        stdout: (piece) => void (ran.out += piece),
        stderr: (piece) => void (ran.err += piece),
      });
      return { code, ...ran };
    },
    write: (file, content) => writeFileSync(path.join(folder, file), content),
    async close() {
      await db.destroy();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  writeSuite(workplace, text);
  return workplace;
}

/** Writes suite, dataset and scripted model. */
export function writeSuite(workplace: Workplace, text: SuiteText): void {
  workplace.write(
    'suite.yaml',
    `name: tiny
kind: smoke
datasets: [cases.yaml]
offline_model: model.yaml
agent:
  type: openai
  model: scripted-1
  system_prompt: ${JSON.stringify(text.systemPrompt ?? 'Say what you are asked to say.')}
judge: null
trials: ${text.trials ?? 1}
concurrency: ${text.concurrency ?? 4}
prices:
  scripted-1: { input: 1, output: 1 }
${text.more ?? ''}
`,
  );
  const cases = text.cases.map((id) => ({
    id,
    input: `Say ${id}`,
    expected: { answer_contains: [text.expect?.[id] ?? `${id} said`] },
  }));
  workplace.write('cases.yaml', JSON.stringify(cases, null, 1));
  workplace.write(
    'model.yaml',
    `model: scripted-1
delay_ms: ${text.delayMs ?? 0}
rules:
  - name: say
    when: { user_matches: '^Say (.+)$' }
    allow_repeat: true
    reply: { content: '{{match.1}} said' }
`,
  );
}

/** Id printed by `run --detach`. */
export async function startDetached(workplace: Workplace, ...flags: string[]): Promise<string> {
  const ran = await workplace.run('run', 'suite.yaml', '--detach', ...flags);
  if (ran.code !== 0) throw new Error(`run --detach ended with ${ran.code}: ${ran.err}`);
  return ran.out.trim();
}

/** Waits until so many trials of an evaluation have ended. */
export async function untilEnded(db: Db, id: string, trials: number): Promise<void> {
  await until(async () => {
    const { passed, failed, unscored, errored } = await loadProgress(db, id);
    return passed + failed + unscored + errored >= trials;
  }, `${trials} trials of ${id} have ended`);
}

export async function untilStatus(db: Db, id: string, status: string): Promise<void> {
  await until(async () => (await findEvaluation(db, id))?.status === status, `${id} is ${status}`);
}

/** Waits until something holds; throws when it does not within the bound. */
export async function until(holds: () => Promise<boolean>, what: string, timeoutMs = 30_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
