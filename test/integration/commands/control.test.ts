import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { loadProgress } from '../../../src/db/missing-trials.ts';
import {
  openWorkplace,
  startDetached,
  type SuiteText,
  until,
  untilEnded,
  untilStatus,
  type Workplace,
  writeSuite,
} from './assay.ts';

let client: Client;
let connection: Connection;
const places: Workplace[] = [];

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
});
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
});
afterAll(() => connection.close());

async function open(text: SuiteText, env: Record<string, string> = {}): Promise<Workplace> {
  const place = await openWorkplace(text, env);
  places.push(place);
  return place;
}

const ten = Array.from({ length: 10 }, (_, i) => `case-${i}`);

/** Starts a run in this process and stops it with Ctrl-C once so many trials have ended: nothing works on it then. */
async function interrupted(place: Workplace, id: string, trials: number, ...flags: string[]): Promise<void> {
  const running = place.run('run', 'suite.yaml', '--id', id, ...flags);
  await untilEnded(place.db, id, trials).catch(async (error: unknown) => {
    throw new Error(`${String(error)}; the run says: ${JSON.stringify(await running)}`);
  });
  process.emit('SIGINT');
  const ran = await running;
  expect(ran.code).toBe(130);
  expect(ran.err).toContain(`assay resume ${id}`);
}

interface TrialFact {
  case_id: string;
  fence: number;
  status: string;
}

async function trialsOf(place: Workplace, id: string): Promise<Map<string, TrialFact>> {
  const statement = `select case_id, fence, status from trial where evaluation_id = '${id}' order by case_id`;
  const ran = await place.run('sql', statement, '--json');
  return new Map((JSON.parse(ran.out) as TrialFact[]).map((fact) => [fact.case_id, fact]));
}

describe('resume', () => {
  test('goes on with what is missing, runs nothing twice, and reports a complete one', async () => {
    const place = await open({ cases: ten, delayMs: 150, concurrency: 2 });
    await interrupted(place, 'resume-1', 3);
    const before = await trialsOf(place, 'resume-1');
    const resumed = await place.run('resume', 'resume-1', '--json');
    expect(resumed.code).toBe(0);
    const report = JSON.parse(resumed.out) as { result: { counts: { passed: number } } };
    expect(report.result.counts.passed).toBe(10);
    const after = await trialsOf(place, 'resume-1');
    for (const [id, fact] of before) if (fact.status === 'passed') expect(after.get(id)).toEqual(fact);
    const again = await place.run('resume', 'resume-1');
    expect(again.code).toBe(0);
    expect(again.err).toContain('is complete');
  });

  test('R18: cases added, removed or edited are named; refused; only they rerun with --rerun-changed', async () => {
    const place = await open({ cases: ten, delayMs: 150, concurrency: 2 });
    await interrupted(place, 'r18-1', 4);
    const before = await trialsOf(place, 'r18-1');
    const edited = { 'case-0': 'case-0 sai' };
    writeSuite(place, { cases: [...ten.slice(0, 9), 'new'], concurrency: 2, expect: edited });
    const refused = await place.run('resume', 'r18-1');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('1 case added: new');
    expect(refused.err).toContain('1 case removed: case-9');
    expect(refused.err).toContain('1 case edited: case-0');
    expect(refused.err).toContain('--rerun-changed');
    expect(refused.err).toContain('--as-snapshot');
    expect(await trialsOf(place, 'r18-1')).toEqual(before);
    const resumed = await place.run('resume', 'r18-1', '--rerun-changed', '--json');
    expect(resumed.err).toContain('1 case edited: case-0');
    expect(resumed.code).toBe(0);
    const report = JSON.parse(resumed.out) as { result: { cases: number; counts: { passed: number } } };
    expect(report.result.cases).toBe(10);
    expect(report.result.counts.passed).toBe(10);
    const after = await trialsOf(place, 'r18-1');
    expect([...after.keys()].sort()).toEqual([...ten.slice(0, 9), 'new'].sort());
    const first = before.get('case-0');
    expect(first?.status).toBe('passed');
    expect(after.get('case-0')?.fence).toBeGreaterThan(first?.fence ?? Infinity);
    for (const [id, fact] of before) {
      if (fact.status === 'passed' && !['case-0', 'case-9'].includes(id)) expect(after.get(id)).toEqual(fact);
    }
    // The new snapshot is the stored one: nothing differs any more.
    expect((await place.run('resume', 'r18-1')).err).toContain('is complete');
  });

  test('R18: a changed agent is said and reruns every trial; --as-snapshot goes on without it', async () => {
    const place = await open({ cases: ten, delayMs: 150, concurrency: 2 });
    await interrupted(place, 'r18-2', 3);
    const before = await trialsOf(place, 'r18-2');
    writeSuite(place, { cases: ten, concurrency: 2, systemPrompt: 'Be brief.' });
    const refused = await place.run('resume', 'r18-2');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('agent: system_prompt');
    expect(refused.err).toContain('runs every trial again');
    const kept = await place.run('resume', 'r18-2', '--as-snapshot');
    expect(kept.code).toBe(0);
    const after = await trialsOf(place, 'r18-2');
    for (const [id, fact] of before) if (fact.status === 'passed') expect(after.get(id)).toEqual(fact);
    expect((await findEvaluation(place.db, 'r18-2'))?.definition.agent).toMatchObject({
      system_prompt: 'Say what you are asked to say.',
    });
    const rerun = await place.run('resume', 'r18-2', '--rerun-changed');
    expect(rerun.code).toBe(0);
    const last = await trialsOf(place, 'r18-2');
    for (const [id, fact] of after) expect(last.get(id)?.fence).toBeGreaterThan(fact.fence);
  });

  test('R18: a suite file that is gone leaves only --as-snapshot', async () => {
    const place = await open({ cases: ['one', 'two'] });
    const id = await startDetached(place, '--id', 'gone-1');
    rmSync(place.suite);
    const refused = await place.run('resume', id);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('is gone');
    expect((await place.run('resume', id, '--as-snapshot')).code).toBe(0);
  });

  test('R19: a workflow terminated from outside is not "running" for ever, and goes on when resumed', async () => {
    const place = await open({ cases: ten, delayMs: 150, concurrency: 2 });
    await interrupted(place, 'r19-1', 3);
    await client.workflow.getHandle('evaluation/r19-1').terminate('by an operator');
    await place.db
      .updateTable('evaluation')
      .set({ created_at: new Date(Date.now() - 60_000) })
      .where('id', '=', 'r19-1')
      .execute();
    const status = await place.run('status', 'r19-1');
    expect(status.out).toContain('r19-1  stopped');
    expect(status.out).toContain('ended from outside (terminated)');
    // What is finished can be looked at.
    const report = await place.run('report', 'r19-1', '--json');
    expect(report.code).toBe(0);
    expect(JSON.parse(report.out)).toMatchObject({ verdict: { word: 'INCOMPLETE' } });
    const resumed = await place.run('resume', 'r19-1');
    expect(resumed.code).toBe(0);
    expect((await findEvaluation(place.db, 'r19-1'))?.status).toBe('completed');
  });

  test('a budget stop goes on with a larger budget', async () => {
    const place = await open({ cases: ten, delayMs: 300, concurrency: 1 });
    const stopped = await place.run('run', 'suite.yaml', '--id', 'budget-1', '--budget-usd', '0.00001');
    expect(stopped.code).toBe(3);
    const status = await place.run('status', 'budget-1');
    expect(status.out).toContain('budget');
    expect(status.out).toContain('--budget-usd MORE');
    const resumed = await place.run('resume', 'budget-1', '--budget-usd', '5');
    expect(resumed.code).toBe(0);
  });
});

describe('cancel, pause, unpause', () => {
  test('cancel keeps what is finished, with a report; resume goes on later', async () => {
    const place = await open({ cases: ten, delayMs: 200, concurrency: 2 });
    const running = place.run('run', 'suite.yaml', '--id', 'cancel-1');
    await untilEnded(place.db, 'cancel-1', 2);
    const canceled = await place.run('cancel', 'cancel-1');
    expect(canceled.code).toBe(0);
    expect(canceled.out).toMatch(/canceled: \d of 10 trials are finished and kept/);
    expect((await running).code).toBe(3);
    expect((await place.run('report', 'cancel-1')).out).toContain('Canceled');
    const again = await place.run('cancel', 'cancel-1', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ status: 'canceled' });
    expect((await place.run('resume', 'cancel-1')).code).toBe(0);
  });

  test('cancel without a workflow ends the evaluation by itself', async () => {
    const place = await open({ cases: ten, delayMs: 150, concurrency: 2 });
    await interrupted(place, 'cancel-2', 2);
    await client.workflow.getHandle('evaluation/cancel-2').terminate();
    const canceled = await place.run('cancel', 'cancel-2');
    expect(canceled.code).toBe(0);
    const row = await findEvaluation(place.db, 'cancel-2');
    expect(row).toMatchObject({ status: 'canceled', exit_code: 3 });
    expect((await place.run('show', 'cancel-2')).code).toBe(0);
  });

  test('pause lets trials in flight finish and starts no more; unpause goes on', async () => {
    const place = await open({ cases: ten, delayMs: 200, concurrency: 1 });
    const running = place.run('run', 'suite.yaml', '--id', 'pause-1');
    await untilEnded(place.db, 'pause-1', 1);
    const paused = await place.run('pause', 'pause-1');
    expect(paused.out).toContain('is paused');
    await untilStatus(place.db, 'pause-1', 'paused');
    const progress = () => loadProgress(place.db, 'pause-1');
    // The pause reaches its shard in moments, and between two trials none is running: at rest when nothing has changed.
    let passed = -1;
    await until(async () => {
      const before = passed;
      const now = await progress();
      passed = now.passed;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return now.running === 0 && before === passed;
    }, 'the trial in flight has ended');
    expect(passed).toBeLessThan(10);
    // Time for five more trials, if any were started.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await progress()).toMatchObject({ passed, running: 0 });
    expect((await place.run('status', 'pause-1')).out).toContain('assay unpause pause-1');
    expect((await place.run('unpause', 'pause-1')).code).toBe(0);
    expect((await running).code).toBe(0);
    expect((await place.run('pause', 'pause-1')).code).toBe(2);
  });
});

describe('exit codes', () => {
  test('R4: a gate breach, a filter that selects nothing and an endpoint that is down end differently', async () => {
    const server = createServer().listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const place = await open({ cases: ['one'], expect: { one: 'never' } });
    expect((await place.run('run', 'suite.yaml', '--new')).code).toBe(1);
    expect((await place.run('run', 'suite.yaml', '--filter', 'id=nope')).code).toBe(2);
    const down = await open(
      { cases: ['one'] },
      { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: 'k' },
    );
    const ran = await down.run('run', 'suite.yaml');
    expect(ran.code).toBe(4);
  });

  test('R16: Temporal not up: the wait is bounded and says what it waits for', async () => {
    const server = createServer().listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const place = await open({ cases: ['one'] }, { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    const ran = await place.run('schedule', 'list');
    expect(ran.code).toBe(4);
    expect(ran.err).toContain(`waiting for Temporal at 127.0.0.1:${port}`);
    expect(ran.err).toContain('TEMPORAL_ADDRESS');
  }, 90_000);
});
