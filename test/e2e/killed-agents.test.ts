import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import type { Db } from '../../src/db/connect.ts';
import { isRunning } from '../unit/agents/is-running.ts';
import { type Lab, type LabOptions, openLab } from './support/lab.ts';
import { countTrials } from './support/outcome.ts';
import { eventually, type Program } from './support/program.ts';

const CASES = 30;
const CONCURRENCY = 6;

let lab: Lab | null = null;
let up: Program | null = null;
let service: Server | null = null;
afterEach(async () => {
  service?.closeAllConnections();
  service?.close();
  up?.kill('SIGTERM');
  await up?.exited;
  await lab?.close();
  [lab, up, service] = [null, null, null];
});

/** Runs an evaluation, kills its worker with some trials final and others in the middle, and resumes it. */
async function killAndResume(
  options: LabOptions,
  isMiddle: (place: Lab, db: Db) => Promise<boolean>,
): Promise<KilledRun> {
  lab = await openLab({ cases: CASES, trials: 1, concurrency: CONCURRENCY, ...options });
  const opened = lab;
  up = opened.start(['up', '--no-worker']);
  await up.until(/Temporal/);
  const run = opened.start(['run', 'suite.yaml', '--id', 'killed', '--json']);
  const db = await opened.db();
  await eventually('trials final and others in the middle', async () => {
    const { final } = await countTrials(db, 'killed');
    return final >= 5 && final < CASES - CONCURRENCY && isMiddle(opened, db);
  });
  // Stopped first, so that what is in flight can be counted exactly.
  run.kill('SIGSTOP');
  await sleep(100);
  const rows = await sql<{ journaled: number; final: number }>`
    select (select count(*) from model_call where evaluation_id = 'killed') as journaled,
      (select count(*) from trial where evaluation_id = 'killed' and status is not null) as final`.execute(db);
  const { journaled = 0, final = 0 } = rows.rows[0] ?? {};
  const inFlight = (await opened.model.stats()).calls - journaled;
  run.kill('SIGKILL');
  await run.exited;
  expect(final).toBeLessThan(CASES);
  const resumed = await opened.run(['resume', 'killed', '--json']);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await countTrials(db, 'killed')).toEqual({ rows: CASES, final: CASES, distinct: CASES });
  const { calls } = await opened.model.stats();
  return { opened, inFlight, calls, final };
}

interface KilledRun {
  opened: Lab;
  /** Model calls that no journal held at the kill. */
  inFlight: number;
  /** Model calls to the end. */
  calls: number;
  /** Trials final at the kill. */
  final: number;
}

test('R13: killed in the middle of dispatches of sub-agents: resume repeats only the model calls in flight', async () => {
  const dispatch = { name: 'researcher', task: 'status of order {{match.1}}?', context: [] };
  const when = { has_tool: 'dispatch_sub_agent', user_matches: 'order (\\d+)\\?' };
  const rules = [
    { when: { ...when, turn: 0 }, reply: { tool_calls: [{ name: 'dispatch_sub_agent', arguments: dispatch }] } },
    { when: { ...when, after_tool: 'dispatch_sub_agent' }, reply: { content: 'order {{match.1}} is shipped' } },
  ];
  const suite = { sub_agents: [{ name: 'researcher', tools: ['get_order'] }] };
  const { opened, inFlight, calls } = await killAndResume({ judge: false, rules, suite }, async (_place, db) => {
    // A sub-agent has asked its tool and not yet answered: of four calls two are journaled.
    const rows = await sql<{ middle: number }>`
      select count(*) as middle from (
        select m.case_id from model_call m join trial t using (evaluation_id, case_id, trial_index)
        where t.status is null group by m.case_id having count(*) = 2) half`.execute(db);
    return (rows.rows[0]?.middle ?? 0) > 0;
  });
  expect(inFlight).toBeGreaterThan(0);
  expect(calls).toBeGreaterThanOrEqual(CASES * 4);
  expect(calls).toBeLessThanOrEqual(CASES * 4 + inFlight);
  const rows = await sql<{ runs: number; calls: number }>`
    select sum(jsonb_array_length(body->'sub_agents')) as runs, sum((body->>'model_calls')::int) as calls
    from trajectory where evaluation_id = 'killed'`.execute(await opened.db());
  expect(rows.rows[0]).toEqual({ runs: CASES, calls: CASES * 4 });
});

/** Says its pid and its case, works for a while, and answers. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const start = JSON.parse(line);
  const [order] = /\\d+/.exec(start.input);
  appendFileSync('runs.txt', process.pid + ' ' + order + '\\n');
  setTimeout(() => console.log(JSON.stringify({ type: 'result', answer: 'order ' + order + ' is shipped' })), 400);
}
`;

/** Trials that ran, by order. */
function expectRunOnce(runs: string[], { final, calls, inFlight }: KilledRun): void {
  const times = new Map<string, number>();
  for (const order of runs) times.set(order, (times.get(order) ?? 0) + 1);
  expect(times.size).toBe(CASES);
  // What was final, or stored and waiting for its judge, did not run again.
  const again = runs.length - CASES;
  expect(again).toBeGreaterThan(0);
  expect(again).toBeLessThanOrEqual(Math.min(CONCURRENCY, CASES - final));
  expect(Math.max(...times.values())).toBe(2);
  // The judge's calls, one a trial.
  expect(calls).toBeGreaterThanOrEqual(CASES);
  expect(calls).toBeLessThanOrEqual(CASES + inFlight);
}

test('R13: killed while programs run: they end with the worker, and resume runs only those again', async () => {
  const folder = (place: Lab): string => path.join(place.folder, 'runs.txt');
  const runsOf = (place: Lab): string[][] =>
    readFileSync(folder(place), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
  const suite = { agent: { type: 'command', command: [process.execPath, 'program.mjs'] } };
  let running: number[] = [];
  const killed = await killAndResume({ suite, delayMs: 100, files: { 'program.mjs': PROGRAM } }, (place) => {
    running = runsOf(place)
      .map(([pid]) => Number(pid))
      .filter(isRunning);
    return Promise.resolve(running.length > 1);
  });
  expect(running.filter(isRunning)).toEqual([]);
  expectRunOnce(
    runsOf(killed.opened).map(([, order = '']) => order),
    killed,
  );
});

test('R13: killed while an HTTP agent works: resume asks it only for what was not final', async () => {
  const asked: string[] = [];
  let working = 0;
  service = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const order = /order (\d+)/.exec(body)?.[1] ?? '';
      asked.push(order);
      working += 1;
      setTimeout(() => {
        working -= 1;
        response.end(JSON.stringify({ answer: `order ${order} is shipped` }));
      }, 400);
    });
  });
  await new Promise<void>((resolve) => service?.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const suite = { agent: { type: 'http', url: `http://127.0.0.1:${port}/` } };
  const killed = await killAndResume({ suite, delayMs: 100 }, () => Promise.resolve(working > 1));
  expectRunOnce(asked, killed);
});
