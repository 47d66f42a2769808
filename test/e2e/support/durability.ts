import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../src/db/connect.ts';
import { CALLS_PER_TRIAL, type Lab, type LabOptions, openLab } from './lab.ts';
import { countTrials, type Outcome, readOutcome } from './outcome.ts';
import { eventually, type Program } from './program.ts';

const TRIALS = 180;

/** What an undisturbed run of the same suite and model stores. */
let reference: Outcome;

/** A lab on which an evaluation is under way, its stack held by `assay up`. */
interface Scene {
  lab: Lab;
  up: Program;
  worker: Program | null;
  run: Program;
  id: string;
  db: Db;
}

async function openScene(options: { separateWorker: boolean; temporal: LabOptions['temporal'] }): Promise<Scene> {
  const lab = await openLab(options.temporal === undefined ? {} : { temporal: options.temporal });
  const up = lab.start(['up', '--no-worker']);
  await up.until(/Temporal/);
  const worker = options.separateWorker ? lab.start(['worker']) : null;
  await worker?.until(/READY/i);
  const run = lab.start([
    'run',
    'suite.yaml',
    '--id',
    'durable',
    '--json',
    ...(options.separateWorker ? ['--no-worker'] : []),
  ]);
  const db = await lab.db();
  return { lab, up, worker, run, id: 'durable', db };
}

interface Moment {
  inFlight: number;
  startedAt: Date;
}

/** Waits until 20 to 80 % of the trials are final and the model is answering a call: the moment to kill something. */
async function midway(scene: Scene, from = 0.2): Promise<Moment> {
  const look = async (): Promise<Moment | null> => {
    const { final } = await countTrials(scene.db, scene.id);
    if (final > TRIALS * 0.8) throw new Error(`too late: ${final} trials are final`);
    if (final < TRIALS * from) return null;
    const moment = await momentOf(scene.lab, scene.db, scene.id);
    return moment.inFlight > 0 ? moment : null;
  };
  return eventually('a moment with trials final and calls in flight', look, 150_000);
}

/** Calls the model has seen that are in no journal: what a death at this moment may cost. */
async function momentOf(lab: Lab, db: Db, id: string): Promise<Moment> {
  const rows = await sql<{ started_at: Date; journaled: number }>`
    select started_at, (select count(*) from model_call where evaluation_id = ${id}) as journaled
    from evaluation where id = ${id}`.execute(db);
  const { calls } = await lab.model.stats();
  return { inFlight: calls - (rows.rows[0]?.journaled ?? 0), startedAt: rows.rows[0]?.started_at as Date };
}

/** Stops a process that makes calls, so that what is in flight can be counted exactly. */
async function stopCounting(scene: Scene, program: Program, db = scene.db): Promise<Moment> {
  program.kill('SIGSTOP');
  // What it has sent before reaches the model, what it has written reaches Postgres.
  await sleep(100);
  return momentOf(scene.lab, db, scene.id);
}

/** kill -9 of a process that makes calls. */
async function killCounting(scene: Scene, program: Program, db = scene.db): Promise<Moment> {
  const moment = await stopCounting(scene, program, db);
  program.kill('SIGKILL');
  await program.exited;
  return moment;
}

/** Everything that must hold at the end, whatever was killed on the way. */
async function expectWhole(scene: Scene, moments: Moment[], printed: string): Promise<void> {
  const db = await scene.lab.db();
  const counts = await countTrials(db, scene.id);
  expect(counts).toEqual({ rows: TRIALS, final: TRIALS, distinct: TRIALS });
  const outcome = await readOutcome(db, scene.id);
  expect(outcome).toEqual(reference);
  const lost = moments.reduce((sum, moment) => sum + moment.inFlight, 0);
  const stats = await scene.lab.model.stats();
  expect(stats.calls).toBeLessThanOrEqual(TRIALS * CALLS_PER_TRIAL + lost);
  expect(stats.calls).toBeGreaterThanOrEqual(TRIALS * CALLS_PER_TRIAL);
  const row = await sql<{ started_at: Date; body: unknown }>`
    select e.started_at, r.body from evaluation e join evaluation_result r on r.evaluation_id = e.id where e.id = ${scene.id}`.execute(
    db,
  );
  for (const moment of moments) expect(row.rows[0]?.started_at).toEqual(moment.startedAt);
  // R17: what is printed is what is stored.
  expect((JSON.parse(printed) as { result: unknown }).result).toEqual(row.rows[0]?.body);
}

async function closeScene(scene: Scene): Promise<void> {
  const programs = [scene.run, scene.worker, scene.up].filter((program) => program !== null);
  for (const program of programs) program.kill('SIGKILL');
  // A stack is not stopped while a process that uses it lives.
  await Promise.all(programs.map((program) => program.exited));
  await scene.lab.close();
}

/**
 * The durability tests: real processes, killed with trials final and model calls in flight. What is stored at the end
 * equals what an undisturbed run stores.
 * Side by side, as many as `maxConcurrency` allows: most of their time is waiting for what was killed.
 * @param temporal the Temporal they run against; undefined: the embedded one.
 */
export function durabilityTests(name: string, temporal?: LabOptions['temporal']): void {
  describe(`kill -9 with trials final and model calls in flight, ${name}`, () => {
    beforeAll(async () => {
      const lab = await openLab({ delayMs: 20, concurrency: 40, ...(temporal === undefined ? {} : { temporal }) });
      try {
        const up = lab.start(['up', '--no-worker']);
        await up.until(/Temporal/);
        const run = await lab.run(['run', 'suite.yaml', '--id', 'durable', '--json']);
        expect(run.stderr).not.toMatch(/unexpected/);
        reference = await readOutcome(await lab.db(), 'durable');
        expect(reference.trials).toHaveLength(TRIALS);
        expect((await lab.model.stats()).calls).toBe(TRIALS * CALLS_PER_TRIAL);
        up.kill('SIGTERM');
        await up.exited;
      } finally {
        await lab.close();
      }
    });

    const scenes: Scene[] = [];
    const open = async (separateWorker: boolean): Promise<Scene> => {
      const scene = await openScene({ separateWorker, temporal });
      scenes.push(scene);
      return scene;
    };
    afterAll(() => Promise.all(scenes.map(closeScene)));

    test.concurrent('the worker: another one goes on', async () => {
      const scene = await open(true);
      await midway(scene);
      const moment = await killCounting(scene, scene.worker as Program);
      expect(moment.inFlight).toBeGreaterThan(0);
      scene.worker = scene.lab.start(['worker']);
      expect(await scene.run.exited, scene.run.stderr()).toBe(0);
      await expectWhole(scene, [moment], scene.run.stdout());
    });

    test.concurrent(
      'R2, R17: the command that follows and works: resume goes on, sums and start time are whole',
      async () => {
        const scene = await open(false);
        await midway(scene);
        const moment = await killCounting(scene, scene.run);
        const resumed = await scene.lab.run(['resume', scene.id, '--json']);
        expect(resumed.code, resumed.stderr).toBe(0);
        await expectWhole(scene, [moment], resumed.stdout);
      },
    );

    test.concurrent('R13: twice within a second of the restart: finished work is not done again', async () => {
      const scene = await open(false);
      await midway(scene);
      const first = await killCounting(scene, scene.run);
      const again = scene.lab.start(['resume', scene.id, '--json']);
      await eventually('the resumed command to work', async () => (await scene.lab.model.stats()).inFlight > 0);
      const second = await killCounting(scene, again);
      const resumed = await scene.lab.run(['resume', scene.id, '--json']);
      expect(resumed.code, resumed.stderr).toBe(0);
      await expectWhole(
        scene,
        [first, { ...second, inFlight: Math.max(0, second.inFlight - first.inFlight) }],
        resumed.stdout,
      );
    });

    test.concurrent('the Temporal server: it is restarted, the evaluation goes on from its history', async () => {
      const scene = await open(true);
      const moment = await midway(scene);
      await scene.lab.killTemporal();
      expect(await scene.run.exited, scene.run.stderr()).toBe(0);
      await expectWhole(scene, [moment], scene.run.stdout());
    });

    test.concurrent('R14: Postgres: it is restarted, no half trial', async () => {
      const scene = await open(true);
      const moment = await midway(scene);
      await scene.lab.killPostgres();
      expect(await scene.run.exited, scene.run.stderr()).toBe(0);
      await expectWhole(scene, [moment], scene.run.stdout());
    });

    test.concurrent('worker, Temporal, Postgres and the following command in turn', async () => {
      const scene = await open(true);
      await midway(scene, 0.2);
      const moments = [await killCounting(scene, scene.worker as Program)];
      scene.worker = scene.lab.start(['worker']);
      moments.push(await midway(scene, 0.3));
      await scene.lab.killTemporal();
      moments.push(await midway(scene, 0.4));
      await scene.lab.killPostgres();
      moments.push(await midway(scene, 0.5));
      scene.run.kill('SIGKILL');
      await scene.run.exited;
      const resumed = await scene.lab.run(['resume', scene.id, '--json', '--no-worker']);
      expect(resumed.code, resumed.stderr).toBe(0);
      await expectWhole(scene, moments, resumed.stdout);
    });

    test.concurrent(
      'every process of the stack at once: the same `assay run` starts it again and goes on',
      async () => {
        const scene = await open(true);
        await midway(scene);
        const moment = await stopCounting(scene, scene.worker as Program);
        for (const program of [scene.run, scene.worker, scene.up]) program?.kill('SIGKILL');
        await scene.lab.killPostgres();
        await scene.lab.killTemporal();
        await scene.run.exited;
        const again = await scene.lab.run(['run', 'suite.yaml', '--json']);
        expect(again.stderr).toMatch(/joining evaluation durable/);
        expect(again.code, again.stderr).toBe(0);
        const up = scene.lab.start(['up', '--no-worker']);
        await up.until(/Temporal/);
        scene.up = up;
        await expectWhole(scene, [moment], again.stdout);
      },
    );
  });
}
