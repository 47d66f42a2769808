import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { registerExport } from '../../../src/commands/suites/export.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { notifyCancel } from '../../../src/db/evaluations.ts';
import { runCommand } from '../../unit/commands/command-harness.ts';
import { echoCases, openRig, type Rig } from '../workflows/support/rig.ts';
import { loadTrials } from '../workflows/support/reads.ts';
import { type Answer, type CountingService, echo, send, startCountingService } from './counting-service.ts';

const NOWHERE = { url: 'http://127.0.0.1:1/v1' };
let rig: Rig;
let folder = '';

beforeAll(async () => {
  rig = await openRig({ env: { AGENT_TOKEN: 'the-token-of-the-agent' } });
  folder = mkdtempSync(path.join(tmpdir(), 'assay-agents-'));
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

let close: (() => void) | null = null;
afterEach(() => {
  close?.();
  close = null;
});

/** Closed after the test. */
async function serve(answer: Answer): Promise<CountingService> {
  const service = await startCountingService(answer);
  close = () => service.close();
  return service;
}

describe('http', () => {
  test('R7: what drops in the middle is tried again; what always fails is errored; the rest passes', async () => {
    const service = await serve((n, request, response) => {
      if (n === 1) return send(response, { error: 'broken' }, 500);
      if (n === 2 && request === 1) {
        response.writeHead(200, { 'content-length': '500' });
        response.write('{"answer": "ec', () => response.destroy());
        return;
      }
      echo(n, request, response);
    });
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(6),
      suite: { agent: { type: 'http', url: service.url }, retry: { backoff_ms: 5, model_failures: 2 } },
    });
    expect(row.status).toBe('completed');
    const trials = await loadTrials(rig.db, row.id);
    expect(trials.map((trial) => trial.status)).toEqual(['passed', 'errored', 'passed', 'passed', 'passed', 'passed']);
    expect(trials[1]).toMatchObject({ error_kind: 'server_error', model_failures: 2 });
    expect(service.requests.get(2)).toBe(2);
  });

  test('R8: a secret that is refused costs one request and stops with one message', async () => {
    const service = await serve((_n, _request, response) => send(response, { error: 'who are you' }, 401));
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(8),
      suite: { agent: { type: 'http', url: service.url, auth_env: 'AGENT_TOKEN' } },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'unauthorized', exit_code: 4 });
    expect(row.stop_message).toMatch(/AGENT_TOKEN|auth_env/);
    expect(row.stop_message).not.toContain('the-token-of-the-agent');
    expect([...service.requests.values()].reduce((sum, one) => sum + one, 0)).toBe(1);
  });

  test('nobody listening stops the evaluation', async () => {
    const service = await serve(echo);
    close?.();
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(3),
      suite: { agent: { type: 'http', url: service.url }, retry: { backoff_ms: 300 } },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'endpoint_unreachable', exit_code: 4 });
  });

  test('cancel closes the requests in flight within a second, as the service sees it', async () => {
    let arrived = (): void => undefined;
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let closed = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const service = await serve((_n, _request, response) => {
      response.on('close', closed);
      arrived();
    });
    const id = await rig.run(NOWHERE, { cases: echoCases(1), suite: { agent: { type: 'http', url: service.url } } });
    await inFlight;
    const startedAt = performance.now();
    await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
    await notifyCancel(rig.db, id);
    await gone;
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect((await rig.ended(id)).status).toBe('canceled');
  });
});

describe('command', () => {
  test('a program that dies, hangs or talks nonsense costs its own trial only', async () => {
    writeFileSync(
      path.join(folder, 'agent.mjs'),
      `import { createInterface } from 'node:readline';
       const { value } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
       const n = Number(/(\\d+)/.exec(JSON.parse(value).input)[1]);
       if (n === 1) process.kill(process.pid, 'SIGKILL');
       if (n === 2) setInterval(() => {}, 1000);
       else if (n === 3) console.log('hello');
       else { console.log(JSON.stringify({ type: 'result', answer: 'echo ' + n + '.' })); process.exit(0); }`,
    );
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(6).map((one, index) => (index === 2 ? { ...one, timeout_ms: 1_500 } : one)),
      suiteRoot: folder,
      suite: {
        agent: { type: 'command', command: [process.execPath, 'agent.mjs'] },
        retry: { backoff_ms: 5, worker_deaths: 2 },
      },
    });
    expect(row.status).toBe('completed');
    const trials = await loadTrials(rig.db, row.id);
    expect(trials.map(({ status, error_kind, final_status }) => [status, error_kind, final_status])).toEqual([
      ['passed', null, 'COMPLETED'],
      ['errored', 'worker_crashed', null],
      ['failed', null, 'TIMEOUT'],
      ['failed', null, 'FAILED'],
      ['passed', null, 'COMPLETED'],
      ['passed', null, 'COMPLETED'],
    ]);
  });

  test('one that cannot be started stops with its name', async () => {
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(3),
      suite: { agent: { type: 'command', command: ['no-such-program-at-all'] } },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'invalid_setup', exit_code: 2 });
    expect(row.stop_message).toContain('no-such-program-at-all');
  });
});

describe('export and replay', () => {
  test('what is exported is replayed without a call of the agent, with the same scores; import(export(x)) = x', async () => {
    const service = await serve((n, _request, response) =>
      send(response, {
        answer: n === 1 ? 'something else \u0000 \ud800' : `echo ${n}.`,
        tool_calls: [{ tool: 'f', args: { n }, result: { big: n } }],
      }),
    );
    const cases = echoCases(4, { trials: 2 });
    const first = await rig.evaluate(NOWHERE, { cases, suite: { agent: { type: 'http', url: service.url } } });
    const asked = [...service.requests.values()].reduce((sum, one) => sum + one, 0);
    expect(asked).toBe(8);

    const env = { ...process.env, DATABASE_URL: rig.databaseUrl };
    const run = await runCommand(registerExport, ['export', first.id, '--out', 'recorded', '--json'], {
      cwd: folder,
      env,
    });
    expect(JSON.parse(run.stdout)).toEqual({ out: 'recorded', evaluation: first.id, cases: 4, trajectories: 8 });
    const lines = (name: string): unknown[] =>
      readFileSync(path.join(folder, 'recorded', name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    expect(lines('cases.jsonl')).toEqual(cases);

    const again = await rig.evaluate(NOWHERE, {
      cases,
      suiteRoot: folder,
      suite: { agent: { type: 'replay', trajectories: 'recorded/trajectories.jsonl' } },
    });
    expect(again.status).toBe('completed');
    expect([...service.requests.values()].reduce((sum, one) => sum + one, 0)).toBe(asked);
    const [before, after] = await Promise.all([loadTrials(rig.db, first.id), loadTrials(rig.db, again.id)]);
    expect(after.map(({ status, final_status }) => [status, final_status])).toEqual(
      before.map(({ status, final_status }) => [status, final_status]),
    );
    await runCommand(registerExport, ['export', again.id, '--out', 'again'], { cwd: folder, env });
    const replayed = readFileSync(path.join(folder, 'again/trajectories.jsonl'), 'utf8');
    expect(replayed).toBe(readFileSync(path.join(folder, 'recorded/trajectories.jsonl'), 'utf8'));
    const { trajectory } = lines('trajectories.jsonl')[2] as { trajectory: Trajectory };
    expect(trajectory.answer).toBe('something else \u0000 \ud800');
  });

  test('a trial that was not recorded stops with its name', async () => {
    writeFileSync(
      path.join(folder, 'one.jsonl'),
      '{"caseId":"case-0000","messages":[{"role":"assistant","content":"echo 0."}]}\n',
    );
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(2),
      suiteRoot: folder,
      suite: { agent: { type: 'replay', trajectories: 'one.jsonl' } },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'invalid_setup' });
    expect(row.stop_message).toMatch(/no trial 1 of case "case-0001", but nothing of this case/);
  });
});
