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
  const trajectories = await sql<{ case_id: string }>`
    select case_id from trajectory where evaluation_id = 'killed'`.execute(db);
  run.kill('SIGKILL');
  await run.exited;
  expect(final).toBeLessThan(CASES);
  const resumed = await opened.run(['resume', 'killed', '--json']);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await countTrials(db, 'killed')).toEqual({ rows: CASES, final: CASES, distinct: CASES });
  const { calls } = await opened.model.stats();
  return { opened, inFlight, calls, final, stored: trajectories.rows.map((row) => row.case_id) };
}

interface KilledRun {
  opened: Lab;
  /** Model calls that no journal held at the kill. */
  inFlight: number;
  /** Model calls to the end. */
  calls: number;
  /** Trials final at the kill. */
  final: number;
  /** Cases whose trajectory was stored at the kill. */
  stored: string[];
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

/** An HTTP agent; `asked` is told the order of each request. */
async function startAgent(delayMs: number, asked: (order: string, done: boolean) => void): Promise<string> {
  service = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const order = /order (\d+)/.exec(body)?.[1] ?? '';
      asked(order, false);
      setTimeout(() => {
        asked(order, true);
        response.end(JSON.stringify({ answer: `order ${order} is shipped` }));
      }, delayMs);
    });
  });
  await new Promise<void>((resolve) => service?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
}

test('R13: killed while an HTTP agent works: resume asks it only for what was not final', async () => {
  const asked: string[] = [];
  let working = 0;
  const url = await startAgent(400, (order, done) => {
    working += done ? -1 : 1;
    if (!done) asked.push(order);
  });
  const killed = await killAndResume({ suite: { agent: { type: 'http', url } }, delayMs: 100 }, () =>
    Promise.resolve(working > 1),
  );
  expectRunOnce(asked, killed);
});

test('R13: killed in the middle of the votes of a panel: no agent is asked and no vote cast again', async () => {
  const asked = new Map<string, number>();
  const url = await startAgent(10, (order, done) => void (done && asked.set(order, (asked.get(order) ?? 0) + 1)));
  const judges = ['judge-a', 'judge-b', 'judge-c'];
  // One of three says no to every order: two of three votes pass.
  const rules = judges.map((model, at) => ({
    when: { model },
    reply: { delay_ms: 100 + at * 300, json: { result: at === 1 ? 'failure' : 'success', reason: `${model} says so` } },
    allow_repeat: true,
  }));
  const panel = judges.map((model) => ({ model }));
  const suite = {
    agent: { type: 'http', url },
    judge: { model: 'judge-a', panel, dimensions: ['task_completion'] },
    prices: {},
  };
  const { opened, inFlight, calls, final, stored } = await killAndResume({ suite, rules }, async (_place, db) => {
    const rows = await sql<{ middle: number }>`
      select count(*) as middle from (
        select m.case_id from model_call m join trial t using (evaluation_id, case_id, trial_index)
        where t.status is null group by m.case_id having count(*) between 1 and 2) half`.execute(db);
    return (rows.rows[0]?.middle ?? 0) > 1;
  });
  expect(stored.length).toBeGreaterThan(final);
  expect(stored.map((id) => asked.get(String(Number(id.replace('order-', '')))))).toEqual(stored.map(() => 1));
  expect(calls).toBeGreaterThanOrEqual(CASES * judges.length);
  expect(calls).toBeLessThanOrEqual(CASES * judges.length + inFlight);
  const db = await opened.db();
  const scores = await sql<{ value: number; passed: boolean; disagreement: number; votes: number; trials: number }>`
    select s.value, s.passed, (s.details->>'disagreement')::float8 as disagreement, v.votes, count(*)::int as trials
    from score s join lateral (select count(*)::int as votes from judge_verdict j where j.evaluation_id = s.evaluation_id
      and j.case_id = s.case_id and j.trial_index = s.trial_index) v on true
    where s.evaluation_id = 'killed' and s.scorer = 'task_completion' group by 1, 2, 3, 4`.execute(db);
  expect(scores.rows).toEqual([{ value: 1, passed: true, disagreement: 1 / 3, votes: 3, trials: CASES }]);
});
