import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ListedSchedule } from '../../../src/commands/schedule/schedule-list.ts';
import { listEvaluations } from '../../../src/db/evaluations.ts';
import { openWorkplace, until, type Workplace } from './assay.ts';

const EVERY_2_S = '*/2 * * * * * *';
const CLIENT = path.resolve(import.meta.dirname, '../../../src/client.ts');

/** `assay worker` as a process of its own, ready. */
async function startWorkerProcess(place: Workplace): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CLIENT, 'worker', '--concurrency', '20'], {
    cwd: place.folder,
    env: place.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  expect(first.toString()).toBe('READY\n');
  return child;
}

describe('schedules, served by a worker process', () => {
  let place: Workplace;
  let worker: ChildProcess;
  let connection: Connection;
  const name = `nightly-${process.pid}`;

  beforeAll(async () => {
    // A trial lasts longer than the time between two firings, so that they overlap.
    place = await openWorkplace({ cases: ['one'], delayMs: 4_500 });
    connection = await Connection.connect({ address: inject('temporalAddress') });
    worker = await startWorkerProcess(place);
  });
  afterAll(async () => {
    await place.run('schedule', 'delete', name);
    worker.kill('SIGKILL');
    await connection.close();
    await place.close();
  });

  test('what cannot be a schedule is refused before one exists', async () => {
    expect((await place.run('schedule', 'create', name, 'suite.yaml')).err).toContain('--cron');
    const zone = await place.run('schedule', 'create', name, 'suite.yaml', '--cron', '0 2 * * *', '--timezone', 'Mars');
    expect(zone.code).toBe(2);
    expect(zone.err).toContain('Asia/Shanghai');
    const cron = await place.run('schedule', 'create', name, 'suite.yaml', '--cron', '99 2 * * *');
    expect(cron.err).toContain('five fields');
    expect(cron.code).toBe(2);
    const suite = await place.run('schedule', 'create', name, 'nope.yaml', '--cron', '0 2 * * *');
    expect(suite.code).toBe(2);
    expect((await place.run('schedule', 'pause', name)).err).toContain(`no schedule "${name}"`);
  });

  test('fires by its own spec; a firing that overlaps is skipped', async () => {
    const created = await place.run('schedule', 'create', name, 'suite.yaml', '--cron', EVERY_2_S, '--json');
    expect(created.code).toBe(0);
    const shown = JSON.parse(created.out) as { next: string[]; cron: string; paused: boolean };
    expect(shown).toMatchObject({ schedule: name, suite: 'tiny', cron: EVERY_2_S, paused: false });
    expect(shown.next).toHaveLength(3);
    expect((await place.run('schedule', 'create', name, 'suite.yaml', '--cron', EVERY_2_S)).err).toContain('already');
    await until(async () => {
      const rows = await listEvaluations(place.db, { scheduleId: name });
      return rows.filter((row) => row.status === 'completed').length >= 2;
    }, 'two scheduled evaluations are completed');
    await place.run('schedule', 'pause', name);
    const client = new Client({ connection });
    const { info, policies, state } = await client.schedule.getHandle(name).describe();
    expect(policies.overlap).toBe('SKIP');
    expect(state.paused).toBe(true);
    expect(info.numActionsSkippedOverlap).toBeGreaterThan(0);
    const rows = await listEvaluations(place.db, { scheduleId: name });
    expect(rows.length).toBe(info.numActionsTaken);
    for (const [i, row] of rows.entries()) {
      const before = rows[i + 1];
      if (before !== undefined) expect(before.finished_at!.getTime()).toBeLessThanOrEqual(row.created_at.getTime());
    }
  });

  test('list shows the last result; trigger works while paused; unpause and delete', async () => {
    await until(async () => (await place.run('schedule', 'list', '--json')).out.includes(name), 'it is listed');
    const listed = JSON.parse((await place.run('schedule', 'list', '--json')).out) as { schedule: string }[];
    const own = listed.find((one) => one.schedule === name);
    expect(own).toMatchObject({ paused: true, last: { exit_code: 0 } });
    expect((await place.run('schedule', 'list')).out).toMatch(new RegExp(`^${name} +tiny .*paused`, 'm'));
    const before = (await listEvaluations(place.db, { scheduleId: name })).length;
    expect((await place.run('schedule', 'trigger', name)).code).toBe(0);
    await until(
      async () => (await listEvaluations(place.db, { scheduleId: name })).length > before,
      'the trigger has started an evaluation',
    );
    expect((await place.run('schedule', 'unpause', name)).code).toBe(0);
    expect((await place.run('schedule', 'delete', name)).code).toBe(0);
    expect((await place.run('schedule', 'trigger', name)).code).toBe(2);
  });

  test('a firing that failed before there was an evaluation is listed with its reason', async () => {
    const broken = `broken-${process.pid}`;
    place.write('broken.yaml', readFileSync(path.join(place.folder, 'suite.yaml'), 'utf8'));
    await place.run('schedule', 'create', broken, 'broken.yaml', '--cron', '0 2 1 1 *');
    try {
      rmSync(path.join(place.folder, 'broken.yaml'));
      await place.run('schedule', 'trigger', broken);
      const listed = async () =>
        (JSON.parse((await place.run('schedule', 'list', '--json')).out) as ListedSchedule[]).find(
          (one) => one.schedule === broken,
        );
      await until(async () => (await listed())?.last_firing?.status === 'failed', 'the firing has failed');
      expect(await listed()).toMatchObject({
        last: null,
        last_firing: { message: expect.stringContaining('broken.yaml') },
      });
      expect((await place.run('schedule', 'list')).out).toMatch(new RegExp(`^${broken} .*failed: `, 'm'));
    } finally {
      await place.run('schedule', 'delete', broken);
    }
  });

  test('SIGTERM ends the worker with 0', async () => {
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});

test('a worker needs the current schema and says how to get it', async () => {
  const place = await openWorkplace({ cases: ['one'] });
  try {
    await place.db.deleteFrom('kysely_migration' as never).execute();
    const ran = await place.run('worker');
    expect(ran.code).toBe(4);
    expect(ran.err).toContain('assay db migrate');
  } finally {
    await place.close();
  }
});
