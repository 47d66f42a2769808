import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALLS_PER_TRIAL, type Lab, openLab } from './support/lab.ts';
import { countTrials } from './support/outcome.ts';
import { eventually, type Program } from './support/program.ts';

const CASES = 24;
const TRIALS = 2 * CASES;
const CONCURRENCY = 6;

let lab: Lab;
const programs: Program[] = [];

/** Starts `assay serve`; its address. */
async function serve(port = 0): Promise<{ program: Program; url: string }> {
  const program = lab.start(['serve', 'suite.yaml', '--port', String(port), '--json']);
  programs.push(program);
  const [, url = ''] = await program.until(/"url":"([^"]+)"/);
  return { program, url };
}

interface Task {
  id: string;
  status: { state: string };
  metadata: { evaluationId: string };
  artifacts?: { artifactId: string }[];
}

async function call(url: string, method: string, params: object): Promise<unknown> {
  const response = await fetch(`${url}/a2a/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await response.json()) as { result: unknown }).result;
}

beforeAll(async () => {
  lab = await openLab({ cases: CASES, trials: 2, concurrency: CONCURRENCY, delayMs: 150 });
});
afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map((program) => program.exited));
  await lab.close();
});

test('a server killed in the middle of a task: the next one answers for it, and nothing is done twice', async () => {
  const first = await serve();
  const { task } = (await call(first.url, 'SendMessage', {
    message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'run it' }] },
    configuration: { returnImmediately: true },
  })) as { task: Task };
  const { evaluationId } = task.metadata;
  const db = await lab.db();
  await eventually('a moment in the middle', async () => {
    const { final } = await countTrials(db, evaluationId);
    if (final > TRIALS * 0.8) throw new Error('too late');
    return final >= TRIALS * 0.2;
  });
  first.program.kill('SIGKILL');
  await first.program.exited;

  const port = Number(new URL(first.url).port);
  const second = await serve(port);
  const seen = (await call(second.url, 'GetTask', { id: task.id })) as Task;
  expect(seen).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_WORKING' } });
  const done = await eventually('the end of the task', async () => {
    const now = (await call(second.url, 'GetTask', { id: task.id })) as Task;
    return now.status.state === 'TASK_STATE_COMPLETED' && now;
  });
  expect(done.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['report.txt', 'report.json']);
  expect(await countTrials(db, evaluationId)).toMatchObject({ rows: TRIALS, final: TRIALS, distinct: TRIALS });
  const { answered } = await lab.model.stats();
  expect(answered).toBeLessThanOrEqual(TRIALS * CALLS_PER_TRIAL + CONCURRENCY);

  second.program.kill('SIGTERM');
  expect(await second.program.exited).toBe(0);
});

test('a host others can reach needs a token', async () => {
  const { code, stderr } = await lab.run(['serve', 'suite.yaml', '--host', '0.0.0.0', '--port', '0'], 30_000);
  expect(code).toBe(2);
  expect(stderr).toContain('no token is set');
});
