import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { CALLS_PER_TRIAL, type Lab, openLab } from './lab.ts';
import { countTrials, type Outcome, readOutcome } from './outcome.ts';
import type { Program } from './program.ts';

const CASES = 30;
const TRIALS = 2;
const CONCURRENCY = 12;
const PLANNED = CASES * TRIALS;
const VICTIMS = ['worker', 'command', 'temporal', 'postgres', 'endpoint'] as const;
type Victim = (typeof VICTIMS)[number];

/** Mulberry32: a small seeded generator, so that a round that failed can be repeated. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What happened in a round, and what was wrong; no problem = the round held. */
interface RoundReport {
  seed: number;
  disturbances: string[];
  problems: string[];
  seconds: number;
}

/** A lab with its stack held up, and what an undisturbed run stores. */
export interface ChaosLab {
  lab: Lab;
  reference: Outcome;
  round(seed: number): Promise<RoundReport>;
  close(): Promise<void>;
}

export async function openChaosLab(): Promise<ChaosLab> {
  const lab = await openLab({
    cases: CASES,
    trials: TRIALS,
    concurrency: CONCURRENCY,
    delayMs: 120,
    env: { ASSAY_HEARTBEAT_TIMEOUT_MS: '2000' },
  });
  const up = await startUp(lab);
  await lab.run(['run', 'suite.yaml', '--id', 'undisturbed', '--no-judge-cache', '--json']);
  const reference = await readOutcome(await lab.db(), 'undisturbed');
  if (reference.trials.length !== PLANNED) throw new Error('the undisturbed run did not finish');
  return {
    lab,
    reference,
    round: (seed) => runRound(lab, reference, seed),
    async close() {
      up.kill('SIGTERM');
      await Promise.race([up.exited, sleep(20_000)]);
      await lab.close();
    },
  };
}

async function startUp(lab: Lab): Promise<Program> {
  const up = lab.start(['up', '--no-worker']);
  await up.until(/Temporal/);
  return up;
}

/** Calls a death now may cost: those under way, and answers that are in no journal yet. */
async function callsAtRisk(lab: Lab, id: string): Promise<{ answered: number; unrecorded: number }> {
  // What was sent reaches the model, what was written reaches Postgres.
  await sleep(100);
  const { answered, inFlight } = await lab.model.stats();
  const recorded = await countJournaled(lab, id);
  // A lane makes one call at a time while the last answer of the trial before is stored; what earlier deaths cost stays unrecorded.
  const most = 2 * CONCURRENCY;
  const open = recorded === null ? most : inFlight + Math.max(0, answered - recorded);
  return { answered, unrecorded: Math.min(most, open) };
}

/** null while Postgres is away. */
async function countJournaled(lab: Lab, id: string): Promise<number | null> {
  try {
    const db = await lab.db();
    const rows = await sql<{ n: number }>`select count(*) as n from model_call where evaluation_id = ${id}`.execute(db);
    return rows.rows[0]?.n ?? null;
  } catch {
    return null;
  }
}

/** Waits for progress, or a while: after a strike it may take some seconds to come back. */
async function answersReach(lab: Lab, wanted: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    if ((await lab.model.stats()).answered >= wanted) return;
    await sleep(20);
  }
}

interface Actors {
  worker: Program;
  command: Program;
}

async function runRound(lab: Lab, reference: Outcome, seed: number): Promise<RoundReport> {
  const startedAt = performance.now();
  const random = generator(seed);
  const id = `chaos-${seed}`;
  await lab.model.control({ dropAll: false });
  await lab.model.reset();
  const actors: Actors = {
    worker: lab.start(['worker']),
    command: lab.start(['run', 'suite.yaml', '--id', id, '--no-judge-cache', '--json', '--no-worker']),
  };
  const disturbances: string[] = [];
  let atRisk = 0;
  const strikes = Array.from({ length: 1 + Math.floor(random() * 4) }, () => 0.05 + random() * 0.85).sort(
    (a, b) => a - b,
  );
  try {
    for (const share of strikes) await strike(share);
    const problems = await ending(lab, actors, id);
    if (problems.length === 0) problems.push(...(await check(lab, reference, id, atRisk)));
    // A round that failed must not go on working in the next one.
    else await lab.run(['cancel', id], 30_000);
    return { seed, disturbances, problems, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
  } finally {
    for (const actor of [actors.worker, actors.command]) {
      actor.kill('SIGKILL');
      await actor.exited;
    }
  }

  async function strike(share: number): Promise<void> {
    await answersReach(lab, share * PLANNED * CALLS_PER_TRIAL);
    const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] as Victim;
    // Stopped first, so that what it has not recorded can be counted.
    if (victim === 'worker') actors.worker.kill('SIGSTOP');
    const { answered, unrecorded } = await callsAtRisk(lab, id);
    atRisk += unrecorded;
    disturbances.push(`${victim} after ${answered} answers, ${unrecorded} calls in flight or not yet recorded`);
    await disturb(lab, actors, victim, { id, pauseMs: 300 + random() * 1_500 });
  }
}

async function disturb(lab: Lab, actors: Actors, victim: Victim, how: { id: string; pauseMs: number }): Promise<void> {
  switch (victim) {
    case 'worker':
      actors.worker.kill('SIGKILL');
      await actors.worker.exited;
      actors.worker = lab.start(['worker']);
      return;
    case 'command': {
      actors.command.kill('SIGKILL');
      await actors.command.exited;
      actors.command = lab.start(['run', 'suite.yaml', '--id', how.id, '--no-judge-cache', '--json', '--no-worker']);
      return;
    }
    case 'temporal':
      return lab.killTemporal();
    case 'postgres':
      return lab.killPostgres();
    case 'endpoint':
      await lab.model.control({ dropAll: true });
      await sleep(how.pauseMs);
      await lab.model.control({ dropAll: false });
  }
}

const ROUND_BOUND_MS = 120_000;

/** Waits for the command; a bound that is passed is a problem, not a hang. */
async function ending(lab: Lab, actors: Actors, id: string): Promise<string[]> {
  const code = await Promise.race([actors.command.exited, sleep(ROUND_BOUND_MS).then(() => 'late' as const)]);
  if (code === 0) return [];
  const status = await lab.run(['status', id, '--json'], 20_000);
  actors.command.kill('SIGKILL');
  return [
    `the command ended with ${code}: ${actors.command.stderr().slice(-2_000)}`,
    `status: ${status.stdout}`,
    `worker: ${actors.worker.stderr().slice(-2_000)}`,
  ];
}

async function check(lab: Lab, reference: Outcome, id: string, atRisk: number): Promise<string[]> {
  const problems: string[] = [];
  const db = await lab.db();
  const counts = await countTrials(db, id);
  if (counts.rows !== PLANNED || counts.final !== PLANNED || counts.distinct !== PLANNED) {
    problems.push(`rows ${JSON.stringify(counts)}, planned ${PLANNED}`);
  }
  const outcome = await readOutcome(db, id);
  for (const part of ['trials', 'scores', 'cases', 'result'] as const) {
    if (!isDeepStrictEqual(outcome[part], reference[part]))
      problems.push(`${part} differ: ${firstDifference(outcome[part], reference[part])}`);
  }
  const { answered } = await lab.model.stats();
  if (answered > PLANNED * CALLS_PER_TRIAL + atRisk) {
    problems.push(`${answered} answers: more than ${PLANNED * CALLS_PER_TRIAL} and ${atRisk} at risk`);
  }
  return problems;
}

function firstDifference(actual: unknown, expected: unknown): string {
  const [a, b] = [actual, expected].map((value) =>
    (Array.isArray(value) ? value : [value]).map((one) => JSON.stringify(one)),
  );
  const index = (a ?? []).findIndex((text, at) => text !== b?.[at]);
  return index < 0
    ? `${a?.length} rows, expected ${b?.length}`
    : `\n  got  ${a?.[index]?.slice(0, 600)}\n  want ${b?.[index]?.slice(0, 600)}`;
}
