import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadTrials } from './support/reads.ts';
import { echoCases, openRig, type Rig } from './support/rig.ts';

let rig: Rig;
let folder: string;
const NOWHERE = { url: 'http://127.0.0.1:1/v1' };

beforeAll(async () => {
  rig = await openRig();
  folder = mkdtempSync(path.join(tmpdir(), 'assay-scorers-'));
  writeFileSync(
    path.join(folder, 'agent.mjs'),
    `export default async (input, { model }) => {
       const n = Number(/(\\d+)/.exec(input)[1]);
       return n === 3 ? 'echo 3. My key is ' + model.apiKey : 'echo ' + n + '.';
     }`,
  );
  writeFileSync(
    path.join(folder, 'scorers.mjs'),
    `const n = ({ trajectory }) => Number(/(\\d+)/.exec(trajectory.answer)[1]);
     export const even = (input) => ({ value: (n(input) + 1) % 2, passed: n(input) % 2 === 0, reason: 'n ' + n(input) });
     export const wild = (input) => {
       if (n(input) === 0) process.exit(7);
       if (n(input) === 1) for (;;);
       if (n(input) === 2) throw new Error('no apples');
       return { value: 1, passed: true, reason: 'fine' };
     };`,
  );
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

interface StoredScore {
  case_id: string;
  scorer: string;
  value: number | null;
  passed: boolean | null;
  deciding: boolean;
  reason: string;
}

test('scorers of the suite decide or inform; one that dies, loops or throws costs its own score only', async () => {
  const row = await rig.evaluate(NOWHERE, {
    cases: echoCases(6),
    suiteRoot: folder,
    suite: {
      agent: { type: 'module', path: 'agent.mjs' },
      concurrency: 4,
      scorers: [
        { name: 'even', path: 'scorers.mjs', export: 'even', decides: true },
        { name: 'wild', path: 'scorers.mjs', export: 'wild', timeout_ms: 3_000 },
      ],
      gates: [
        { name: 'even', metric: 'even', min: 0.75 },
        { name: 'wild', metric: 'wild', min: 0.75 },
      ],
    },
  });
  const trials = await loadTrials(rig.db, row.id);
  expect(trials.map((trial) => [trial.status, trial.deaths])).toEqual([
    ['passed', 0],
    ['failed', 0],
    ['passed', 0],
    ['failed', 0],
    ['passed', 0],
    ['failed', 0],
  ]);
  const { rows: scores } = await sql<StoredScore>`
    select case_id, scorer, value, passed, deciding, reason from score
    where evaluation_id = ${row.id} and scorer in ('even', 'wild') order by case_id, scorer`.execute(rig.db);
  expect(scores.filter(({ scorer }) => scorer === 'even').map(({ passed, deciding }) => [passed, deciding])).toEqual(
    [true, false, true, false, true, false].map((passed) => [passed, true]),
  );
  const wild = scores.filter(({ scorer }) => scorer === 'wild');
  expect(wild.map(({ value, passed, deciding }) => [value, passed, deciding])).toEqual([
    ...Array.from({ length: 3 }, () => [null, null, false]),
    ...Array.from({ length: 3 }, () => [1, true, false]),
  ]);
  expect(wild[0]?.reason).toContain('exited with code 7');
  expect(wild[1]?.reason).toContain('no score within timeout_ms (3000 ms)');
  expect(wild[2]?.reason).toContain('it threw Error: no apples (scorers.mjs:');
  expect(rig.log.filter((line) => /heartbeat/i.test(line))).toEqual([]);
  const metrics = await sql<object>`select metric, value, trials, trials_applicable as applicable from evaluation_metric
    where evaluation_id = ${row.id} and metric in ('even', 'wild') order by metric`.execute(rig.db);
  expect(metrics.rows).toEqual([
    { metric: 'even', value: 0.5, trials: 6, applicable: 6 },
    { metric: 'wild', value: 1, trials: 3, applicable: 6 },
  ]);
  const gates = await sql<object>`select gate, got, verdict from gate_result
    where evaluation_id = ${row.id} and metric in ('even', 'wild') order by gate`.execute(rig.db);
  expect(gates.rows).toEqual([
    { gate: 'even', got: 0.5, verdict: 'failed' },
    { gate: 'wild', got: 1, verdict: 'inconclusive' },
  ]);
  // The agent of case 3 gave away the key it was trusted with.
  const leak = await sql<StoredScore & { violation: boolean }>`
    select * from score where evaluation_id = ${row.id} and violation`.execute(rig.db);
  expect(leak.rows.map(({ case_id, scorer }) => [case_id, scorer])).toEqual([[trials[3]?.case_id, 'secrets']]);
  expect(row).toMatchObject({ exit_code: 1 });
  const stored = await sql<{ text: string }>`
    select row_to_json(trajectory)::text as text from trajectory where evaluation_id = ${row.id}`.execute(rig.db);
  expect(stored.rows).toHaveLength(6);
  expect(stored.rows.filter(({ text }) => text.includes('sk-test-not-a-real-key'))).toEqual([]);
});

test('a worker without the scorer stops the evaluation with what to mend, and leaves no null scores', async () => {
  const row = await rig.evaluate(NOWHERE, {
    cases: echoCases(3),
    suiteRoot: folder,
    suite: {
      agent: { type: 'module', path: 'agent.mjs' },
      scorers: [{ name: 'gone', path: 'gone.mjs' }],
    },
  });
  expect(row).toMatchObject({ status: 'stopped', exit_code: 2 });
  expect(row.stop_message).toMatch(/scorers: .*gone.*the module .*gone\.mjs cannot be loaded/);
  const scores = await sql`select 1 from score where evaluation_id = ${row.id}`.execute(rig.db);
  expect(scores.rows).toEqual([]);
});
