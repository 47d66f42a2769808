import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentInput } from '../../../src/agents/agent.ts';
import { type AgentDeps, type ClosableAgent, createAgent } from '../../../src/agents/index.ts';
import type { CaseMock, EvalCase } from '../../../src/core/case.ts';
import { ModelError, UserError } from '../../../src/core/errors.ts';
import type { ModuleAgentConfig, Suite } from '../../../src/core/suite.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { isRunning } from './is-running.ts';
import { call, calls, caseOf, inputOf, replyOf, scripted, suiteOf, text } from './trial-fixture.ts';

const ROOT = join(import.meta.dirname, 'modules');
const MOCK: CaseMock = {
  tools: [
    { tool: 'get_order', replies: [{ result: { status: 'paid' } }] },
    { tool: 'refund', replies: [{ result: 'done' }] },
  ],
};

let folder: string | undefined;
let agent: ClosableAgent | undefined;
afterEach(async () => {
  await agent?.close();
  agent = undefined;
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

interface Part {
  evalCase?: Partial<EvalCase>;
  limits?: Partial<Suite['limits']>;
  concurrency?: number;
  options?: ModuleAgentConfig['options'];
  input?: Partial<AgentInput>;
}

function moduleInput(exportName: string, part: Part = {}): AgentInput {
  const config: ModuleAgentConfig = { type: 'module', path: 'agent.ts', export: exportName };
  return inputOf({
    model: scripted(),
    evalCase: caseOf({ mock: MOCK, ...part.evalCase }),
    suite: suiteOf({
      agent: part.options === undefined ? config : { ...config, options: part.options },
      limits: { ...suiteOf().limits, ...part.limits },
      concurrency: part.concurrency ?? 4,
    }),
    suiteRoot: ROOT,
    ...part.input,
  });
}

function start(deps: AgentDeps = {}): ClosableAgent {
  agent ??= createAgent({ type: 'module', path: 'agent.ts' }, { suiteRoot: ROOT, ...deps });
  return agent;
}

function run(exportName: string, part: Part = {}, deps: AgentDeps = {}): Promise<Trajectory> {
  return start(deps).run(moduleInput(exportName, part));
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; !condition();) {
    if (Date.now() > end) throw new Error(`waited 10 s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a module', () => {
  test('gets the input as text, calls tools of the mock world, answers', async () => {
    const trajectory = await run('default');
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      final_status_reason: null,
      answer: 'Refund order 88: paid',
      iterations: 2,
      model_calls: 0,
      usage: { input: null, output: null, total: null },
    });
    expect(trajectory.tool_calls).toMatchObject([
      { index: 0, turn: 0, tool: 'get_order', args: { order: 88 }, result: { status: 'paid' }, error: null },
    ]);
    expect(trajectory.messages).toEqual([
      { role: 'user', content: 'Refund order 88' },
      { role: 'assistant', content: 'Refund order 88: paid' },
    ]);
  });

  test('sees its trial, its options and the model settings, never the case id', async () => {
    const trajectory = await run(
      'inspect',
      {
        evalCase: { metadata: { site: 'A' }, tools: ['refund'], context: { documents: [{ id: 'd', text: 't' }] } },
        options: { seed: 7, mode: 'fast' },
        input: { trialIndex: 3 },
      },
      { baseUrl: 'http://localhost/v1', apiKey: 'k' },
    );
    expect(trajectory.answer).not.toContain('case-id-canary');
    expect(JSON.parse(trajectory.answer ?? '')).toEqual({
      input: 'Refund order 88',
      tools: ['refund'],
      aborted: false,
      messages: [
        { role: 'system', content: 'Documents:\n\n[d]\nt' },
        { role: 'user', content: 'Refund order 88' },
      ],
      turns: [],
      documents: [{ id: 'd', text: 't' }],
      metadata: { site: 'A' },
      options: { seed: 7, mode: 'fast' },
      trialIndex: 3,
      seed: 9,
      model: { baseURL: 'http://localhost/v1', apiKey: 'k' },
    });
  });

  test('may say more than an answer', async () => {
    expect(await run('structured')).toMatchObject({
      final_status: 'PARTIAL_SUCCESS',
      answer: 'done',
      plan: ['look', 'act'],
      retrieved_doc_ids: ['d2', 'd1'],
      usage: { input: 7, output: 3, total: 10, cached: null },
    });
  });

  test('in plain JavaScript works too', async () => {
    const input = moduleInput('default');
    const suite = { ...input.suite, agent: { type: 'module', path: 'plain.mjs' } as const };
    expect(await start().run({ ...input, suite })).toMatchObject({ answer: 'plain JavaScript: Refund order 88' });
  });

  test.each([
    ['nothing', 'the module returned nothing'],
    ['misnamed', 'unknown key "final_status"'],
    ['throws', 'RangeError: out of my depth (agent.ts:'],
    ['stray', 'nobody awaits me'],
  ])('that returns or throws wrongly (%s) is FAILED, and says why', async (exportName, reason) => {
    const trajectory = await run(exportName);
    expect(trajectory).toMatchObject({ final_status: 'FAILED', answer: null });
    expect(trajectory.final_status_reason).toContain(reason);
    // The next trial is not touched.
    expect((await run('default')).final_status).toBe('COMPLETED');
  });

  test('can catch the error of a tool', async () => {
    const mock: CaseMock = {
      tools: [{ tool: 'get_order', replies: [{ fail: { kind: 'not_found', message: 'no 88' } }] }],
    };
    const trajectory = await run('catches', { evalCase: { mock } });
    expect(trajectory.answer).toBe('CallError not_found no 88');
    expect(trajectory.tool_calls[0]?.error).toEqual({ kind: 'not_found', message: 'no 88' });
  });

  test('calls that overlap are one turn, later ones another', async () => {
    const trajectory = await run('parallel');
    expect(trajectory.tool_calls.map(({ turn, args }) => [turn, args])).toEqual([
      [0, { n: 1 }],
      [0, { n: 2 }],
      [1, { n: 3 }],
    ]);
    expect(trajectory.iterations).toBe(3);
  });

  test('tools of its own are recorded without a change of their code', async () => {
    const trajectory = await run('wraps');
    expect(trajectory.answer).toBe('3 8 like an SDK tool');
    expect(trajectory.tool_calls).toMatchObject([
      { tool: 'add', args: { a: 1, b: 2 }, result: 3, error: null },
      { tool: 'sdk', args: { x: 4 }, result: { doubled: 8 }, error: null },
      { tool: 'fails', args: {}, result: null, error: { kind: 'threw', message: 'Error: broken tool' } },
    ]);
  });

  test('model calls go through the journal, in order, and are counted', async () => {
    const model = scripted(calls(call('get_order', {}), call('refund', {})), text('all done'));
    const trajectory = await run('completes', { input: { model } });
    expect(trajectory).toMatchObject({ answer: 'all done', iterations: 2, model_calls: 2, usage: { total: 30 } });
    expect(model.places.map((place) => place.sequence)).toEqual([0, 1]);
    // Asked for by one reply: one turn, though the module ran them one after the other.
    expect(trajectory.tool_calls.map((made) => made.turn)).toEqual([0, 0]);
  });

  test('a failed model call is infrastructure even when the module swallows it', async () => {
    const model = scripted(new ModelError('rate_limit', 'slow down'));
    await expect(run('swallows', { input: { model } })).rejects.toMatchObject({ kind: 'rate_limit' });
    expect((await run('default')).final_status).toBe('COMPLETED');
  });

  test('R9: a full context is an error the module may handle', async () => {
    const model = scripted(new ModelError('context_length', 'too long'));
    expect(await run('swallows', { input: { model } })).toMatchObject({ final_status: 'COMPLETED' });
  });

  test('a model request that is none is refused with what was expected', async () => {
    expect((await run('badRequest')).answer).toContain('model is missing');
  });

  test('R10: caps end a module that never stops, named', async () => {
    const byCalls = await run('forever', { limits: { max_tool_calls: 5 } });
    expect(byCalls).toMatchObject({ final_status: 'MAX_ITERATIONS' });
    expect(byCalls.final_status_reason).toContain('max_tool_calls (5)');
    expect(byCalls.tool_calls).toHaveLength(6);
    const model = scripted(replyOf({ content: 'a' }), replyOf({ content: 'b' }));
    const byTurns = await run('completes', { input: { model }, limits: { max_iterations: 1 } });
    expect(byTurns.final_status_reason).toContain('max_iterations (1)');
  });

  test('what it leaves running does not reach the next trial in its process', async () => {
    const first = await run('leftovers', { concurrency: 1 });
    expect(first.tool_calls).toEqual([]);
    const second = await run('waits', { concurrency: 1 });
    expect(second.tool_calls).toEqual([]);
    expect(first.tool_calls).toEqual([]);
  });

  test.each([
    ['not there', 'gone.ts', 'default', undefined],
    ['without such an export', 'agent.ts', 'unknown', 'expected a function as export unknown'],
    ['whose export is no function', 'agent.ts', 'noFunction', 'expected a function as export noFunction'],
  ])('that is %s is the user’s error', async (_name, path, exportName, message) => {
    const input = moduleInput(exportName);
    const suite = { ...input.suite, agent: { type: 'module', path, export: exportName } as const };
    const error: unknown = await start()
      .run({ ...input, suite })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    if (message !== undefined) expect((error as Error).message).toContain(message);
  });

  test('that does not parse is the user’s error', async () => {
    folder = mkdtempSync(join(tmpdir(), 'assay-module-'));
    writeFileSync(join(folder, 'agent.ts'), 'export default (input: string => input;');
    await expect(start().run({ ...moduleInput('default'), suiteRoot: folder })).rejects.toBeInstanceOf(UserError);
  });

  test('whose file is missing is refused when the agent is made', () => {
    expect(() => createAgent({ type: 'module', path: 'gone.ts' }, { suiteRoot: ROOT })).toThrow(UserError);
  });
});

describe('processes', () => {
  test('are used again, and not more than the concurrency', async () => {
    const pids = await Promise.all(Array.from({ length: 6 }, () => run('waits', { concurrency: 2 })));
    expect(new Set(pids.map((trajectory) => trajectory.answer)).size).toBe(2);
  });

  test('never more than the maximum', async () => {
    const pids = await Promise.all(Array.from({ length: 4 }, () => run('waits', {}, { maxProcesses: 1 })));
    expect(new Set(pids.map((trajectory) => trajectory.answer)).size).toBe(1);
  });

  test('end by themselves when nobody needs them, and the next trial gets a new one', async () => {
    const { answer } = await run('pid', {}, { idleMs: 100 });
    await until(() => !isRunning(Number(answer)), 'the idle process to end');
    expect((await run('pid')).answer).not.toBe(answer);
  });

  test('are gone after close', async () => {
    const { answer } = await run('pid');
    expect(isRunning(Number(answer))).toBe(true);
    await agent?.close();
    expect(isRunning(Number(answer))).toBe(false);
    await expect(run('pid')).rejects.toThrow('closed');
  });

  test('idle ones do not keep their parent from ending, and end with it', async () => {
    const parent = spawn(process.execPath, [join(ROOT, 'parent.ts'), 'pid', ''], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    parent.stdout.on('data', (part: Buffer) => {
      output += part.toString();
    });
    await new Promise((resolve) => parent.on('close', resolve));
    expect(parent.exitCode).toBe(0);
    expect(Number(output)).toBeGreaterThan(0);
    await until(() => !isRunning(Number(output)), 'the idle process to end');
  });

  test('a trial waiting for a process can be canceled', async () => {
    const controller = new AbortController();
    const first = run('waits', { concurrency: 1 });
    const second = run('waits', { concurrency: 1, input: { signal: controller.signal } });
    controller.abort();
    await expect(second).rejects.toMatchObject({ name: 'AbortError' });
    expect((await first).final_status).toBe('COMPLETED');
    expect((await run('waits', { concurrency: 1 })).final_status).toBe('COMPLETED');
  });
});

describe('R22', () => {
  test('R22: process.exit kills only its trial, with its code and last words', async () => {
    const other = run('waits', { concurrency: 2 });
    await expect(run('exits', { concurrency: 2 })).rejects.toMatchObject({
      name: 'WorkerCrashError',
      kind: 'worker_crashed',
      exitCode: 7,
      message: expect.stringContaining('goodbye'),
    });
    expect((await other).final_status).toBe('COMPLETED');
    expect((await run('default')).final_status).toBe('COMPLETED');
  });

  test('R22: running out of memory kills only its trial', async () => {
    const other = run('waits', { concurrency: 2 }, { maxMemoryMb: 40 });
    await expect(run('memory', { concurrency: 2 })).rejects.toMatchObject({
      kind: 'worker_crashed',
      message: expect.stringContaining('out of memory (40 MB)'),
    });
    expect((await other).final_status).toBe('COMPLETED');
  });

  test('R22: a loop that never yields is TIMEOUT; other trials go on meanwhile', async () => {
    const looping = run('loops', { limits: { timeout_ms: 600 }, concurrency: 2 });
    expect((await run('default', { concurrency: 2 })).final_status).toBe('COMPLETED');
    const trajectory = await looping;
    expect(trajectory).toMatchObject({ final_status: 'TIMEOUT', answer: null });
    expect(trajectory.final_status_reason).toContain('600 ms');
  });

  test('R22: a cancel ends a looping module and what it started within a second', async () => {
    folder = mkdtempSync(join(tmpdir(), 'assay-module-'));
    const file = join(folder, 'pids');
    const controller = new AbortController();
    const looping = run('loopsWithChild', { options: { file }, input: { signal: controller.signal } });
    const rejected = expect(looping).rejects.toMatchObject({ name: 'AbortError' });
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes(' '), 'the module to start');
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    const from = Date.now();
    controller.abort();
    await rejected;
    expect(Date.now() - from).toBeLessThan(1_000);
    await until(() => !pids.some(isRunning), 'both processes to end');
  });

  const detaching = process.platform === 'linux' ? ['loopsWithDetached', 'waitsWithDetached'] : [];
  test.each(['loopsWithChild', ...detaching])('R22: nothing outlives a parent that was killed: %s', async (name) => {
    folder = mkdtempSync(join(tmpdir(), 'assay-module-'));
    const file = join(folder, 'pids');
    const parent = spawn(process.execPath, [join(ROOT, 'parent.ts'), name, file], { stdio: 'inherit' });
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes(' '), 'the module to start');
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await until(() => !pids.some(isRunning), 'the module and what it started to end');
  });

  test.skipIf(process.platform !== 'linux')(
    'a process it put into a session of its own ends with it, after an answer too',
    async () => {
      folder = mkdtempSync(join(tmpdir(), 'assay-module-'));
      for (const name of ['leavesDetached', 'loopsWithDetached']) {
        const file = join(folder, name);
        const trajectory = await run(name, { options: { file }, limits: { timeout_ms: 4_000 } });
        expect(trajectory.final_status).toBe(name === 'leavesDetached' ? 'COMPLETED' : 'TIMEOUT');
        const pids = readFileSync(file, 'utf8').split(' ').map(Number);
        expect(isRunning(pids[1] ?? 0)).toBe(name === 'leavesDetached');
        await agent?.close();
        agent = undefined;
        await until(() => !pids.some(isRunning), 'the module and what it started to end');
      }
    },
  );

  test('a module that heeds its signal can clean up before it is killed', async () => {
    folder = mkdtempSync(join(tmpdir(), 'assay-module-'));
    const file = join(folder, 'mark');
    const trajectory = await run('heedsSignal', { options: { file }, limits: { timeout_ms: 600 } });
    expect(trajectory.final_status).toBe('TIMEOUT');
    expect(readFileSync(file, 'utf8')).toBe('cleaned up');
  });
});
