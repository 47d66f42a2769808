import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { echoCases, openRig, type Rig } from './support/rig.ts';
import { loadTrials } from './support/reads.ts';

let rig: Rig;
let folder: string;
const NOWHERE = { url: 'http://127.0.0.1:1/v1' };

beforeAll(async () => {
  rig = await openRig();
  folder = mkdtempSync(path.join(tmpdir(), 'assay-module-'));
  writeFileSync(
    path.join(folder, 'agent.mjs'),
    `export default async function agent(input) {
       const n = Number(/(\\d+)/.exec(input)[1]);
       if (n === 1) process.exit(7);
       if (n === 2) { const all = []; for (;;) all.push(new Array(1e6).fill(n)); }
       if (n === 3) for (;;);
       return 'echo ' + n + '.';
     }`,
  );
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

test('R22: a module that exits, runs out of memory or loops costs its own trial only', async () => {
  const row = await rig.evaluate(NOWHERE, {
    // Only the loop is bounded by time: memory is to run out however slow the machine is.
    cases: echoCases(12).map((one, index) => (index === 3 ? { ...one, timeout_ms: 4_000 } : one)),
    suiteRoot: folder,
    suite: {
      agent: { type: 'module', path: 'agent.mjs' },
      concurrency: 4,
      retry: { backoff_ms: 20, worker_deaths: 2 },
    },
  });
  expect(row.status).toBe('completed');
  const trials = await loadTrials(rig.db, row.id);
  expect(trials[1]).toMatchObject({ status: 'errored', error_kind: 'worker_crashed', deaths: 2 });
  expect(trials[1]?.error_message).toMatch(/7/);
  expect(trials[2]).toMatchObject({ status: 'errored', error_kind: 'worker_crashed', deaths: 2 });
  expect(trials[2]?.error_message).toMatch(/out of memory/);
  expect(trials[3]).toMatchObject({ status: 'failed', error_kind: null, final_status: 'TIMEOUT', deaths: 0 });
  expect(trials.filter((_, index) => ![1, 2, 3].includes(index)).map((trial) => [trial.status, trial.deaths])).toEqual(
    Array.from({ length: 9 }, () => ['passed', 0]),
  );
  expect(rig.log.filter((line) => /heartbeat/i.test(line))).toEqual([]);
});

test('a module that cannot be loaded stops the evaluation with one message', async () => {
  const row = await rig.evaluate(NOWHERE, {
    cases: echoCases(5),
    suiteRoot: folder,
    suite: { agent: { type: 'module', path: 'no-such-agent.mjs' } },
  });
  expect(row).toMatchObject({ status: 'stopped', stop_kind: 'invalid_setup', exit_code: 2 });
  expect(row.stop_message).toMatch(/no-such-agent\.mjs/);
});
