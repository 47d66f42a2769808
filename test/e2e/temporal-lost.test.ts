import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/db/connect.ts';
import { readStackRecord } from '../../src/local/stack-record.ts';
import { CALLS_PER_TRIAL, type Lab, openLab } from './support/lab.ts';
import { countTrials, readOutcome } from './support/outcome.ts';
import { eventually, type Program } from './support/program.ts';

const CASES = 24;
const CONCURRENCY = 6;
const TRIALS = 2 * CASES;

let lab: Lab;
const programs: Program[] = [];
const start = (args: string[]): Program => {
  const program = lab.start(args);
  programs.push(program);
  return program;
};

beforeAll(async () => {
  lab = await openLab({ cases: CASES, trials: 2, concurrency: CONCURRENCY, delayMs: 150 });
});
afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map((program) => program.exited));
  await lab.close();
});

async function killEverything(): Promise<void> {
  // Those that watch over the servers first: nobody is to start them again.
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map((program) => program.exited));
  await lab.killPostgres();
  await lab.killTemporal();
}

const startOf = async (db: Db, id: string): Promise<Date | null> =>
  (await sql<{ started_at: Date | null }>`select started_at from evaluation where id = ${id}`.execute(db)).rows[0]
    ?.started_at ?? null;

test("Temporal's data lost: resume goes on from Postgres alone", async () => {
  await start(['up', '--no-worker']).until(/Temporal/);
  const undisturbed = await lab.run(['run', 'suite.yaml', '--id', 'undisturbed', '--no-judge-cache', '--json']);
  expect(undisturbed.code, undisturbed.stderr).toBe(0);
  const first = await lab.db();
  const reference = await readOutcome(first, 'undisturbed');
  expect(reference.trials).toHaveLength(TRIALS);
  await lab.model.reset();

  start(['run', 'suite.yaml', '--id', 'lost', '--no-judge-cache', '--json']);
  const before = await eventually('a fifth of the trials to be final', async () => {
    const { final } = await countTrials(first, 'lost');
    return final >= TRIALS / 5 ? final : null;
  });
  expect(before).toBeLessThan(TRIALS * 0.8);
  const startedAt = await startOf(first, 'lost');
  await killEverything();
  const { home } = lab;
  expect(readStackRecord(home, () => undefined).temporal?.dataFile).toBe(path.join(home, 'temporal.db'));
  const files = readdirSync(home).filter((name) => name.startsWith('temporal.db'));
  expect(files).toContain('temporal.db');
  for (const name of files) rmSync(path.join(home, name));

  const resumed = await lab.run(['resume', 'lost', '--json']);
  expect(resumed.code, resumed.stderr).toBe(0);
  await start(['up', '--no-worker']).until(/Temporal/);
  const db = await lab.db();
  expect(await countTrials(db, 'lost')).toEqual({ rows: TRIALS, final: TRIALS, distinct: TRIALS });
  expect(await readOutcome(db, 'lost')).toEqual(reference);
  expect(await startOf(db, 'lost')).toEqual(startedAt);
  // Made again: a call a lane in flight at the kill, and a last answer of the trial before it that was being stored.
  const { calls } = await lab.model.stats();
  expect(calls).toBeGreaterThanOrEqual(TRIALS * CALLS_PER_TRIAL);
  expect(calls).toBeLessThanOrEqual(TRIALS * CALLS_PER_TRIAL + 2 * CONCURRENCY);
});
