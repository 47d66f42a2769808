import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentInput } from '../../../../src/agents/agent.ts';
import { type CommandAgent, createCommandAgent } from '../../../../src/agents/command/command-agent.ts';
import { WorkerCrashError } from '../../../../src/agents/module/worker-crash.ts';
import { sleep } from '../../../../src/agents/sleep.ts';
import { commandAgentSchema } from '../../../../src/core/agent-config.schema.ts';
import type { EvalCase } from '../../../../src/core/case.ts';
import { MissingVariableError, UserError } from '../../../../src/core/errors.ts';
import type { Suite } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { isRunning } from '../is-running.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const PROGRAM = join(import.meta.dirname, 'program.mjs');
const MOCK = {
  tools: [
    { tool: 'get_order', replies: [{ result: { status: 'paid' } }] },
    { tool: 'refund', replies: [{ fail: { kind: 'http_500' as const } }] },
  ],
};

let folder = '';
let agent: CommandAgent | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-command-'));
});
afterEach(async () => {
  await agent?.close();
  agent = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Part {
  config?: Record<string, unknown>;
  options?: Record<string, unknown>;
  evalCase?: Partial<EvalCase>;
  limits?: Partial<Suite['limits']>;
  input?: Partial<AgentInput>;
  env?: Record<string, string>;
}

function run(mode: string, part: Part = {}): Promise<Trajectory> {
  agent ??= createCommandAgent({
    sleep,
    env: part.env ?? { PATH: process.env['PATH'] },
    model: { baseUrl: 'http://localhost/v1', apiKey: 'sk-model-key-1234567' },
  });
  const config = {
    type: 'command',
    command: [process.execPath, PROGRAM],
    options: { mode, pids: join(folder, 'pids'), ...part.options },
    ...part.config,
  };
  return agent.run(
    inputOf({
      model: scripted(),
      suiteRoot: folder,
      evalCase: caseOf({ mock: MOCK, ...part.evalCase }),
      suite: suiteOf({
        agent: commandAgentSchema.parse(config),
        limits: { ...suiteOf().limits, ...part.limits },
      }),
      ...part.input,
    }),
  );
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; !condition();) {
    if (Date.now() > end) throw new Error(`waited 10 s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Process ids the program wrote; it is under way then. */
async function pidsOf(): Promise<number[]> {
  const file = join(folder, 'pids');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith(']'), 'the program to start');
  return JSON.parse(readFileSync(file, 'utf8')) as number[];
}

describe('a program', () => {
  test('is told the trial, calls mock tools, and answers; what it logs is kept', async () => {
    const trajectory = await run('default');
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      final_status_reason: null,
      answer: 'Order is paid',
      iterations: 2,
      model: 'own',
      usage: { input: 7, output: 3, total: 10 },
      stderr: 'looked it up',
    });
    expect(trajectory.tool_calls).toMatchObject([
      { tool: 'get_order', args: { order: 88 }, result: { status: 'paid' }, error: null, turn: 0 },
    ]);
    expect(trajectory.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('sees tools, documents, metadata, options, trial and seed; neither the case id nor a key', async () => {
    const { answer } = await run('inspect', {
      options: { seed: 7 },
      evalCase: { metadata: { site: 'A' }, context: { documents: [{ id: 'd', text: 't' }] }, tools: ['refund'] },
      input: { trialIndex: 3 },
    });
    expect(JSON.parse(answer ?? '')).toEqual({
      type: 'start',
      protocol: 1,
      input: 'Refund order 88',
      messages: expect.any(Array) as unknown,
      more_turns: 0,
      tools: [{ name: 'refund' }],
      documents: [{ id: 'd', text: 't' }],
      metadata: { site: 'A' },
      options: { mode: 'inspect', seed: 7, pids: expect.any(String) as string },
      trial_index: 3,
      seed: 9,
    });
    expect(answer).not.toContain('case-id-canary');
  });

  test('gets the model’s endpoint only when asked for, and its key is not stored', async () => {
    const { answer } = await run('inspect', { config: { model_access: true } });
    const { model } = JSON.parse(answer ?? '') as { model: { base_url: string; api_key: string } };
    expect(model.base_url).toBe('http://localhost/v1');
    expect(answer).not.toContain('sk-model-key-1234567');
  });

  test('has a clean environment: the allow list, what is passed on, what is set, and nothing else', async () => {
    const { answer } = await run('environment', {
      env: {
        PATH: process.env['PATH'] ?? '',
        LANG: 'C',
        OPENAI_API_KEY: 'sk-canary-1',
        DATABASE_URL: 'postgres://canary',
        NODE_OPTIONS: '--no-warnings',
        LD_LIBRARY_PATH: '/tmp',
        WANTED: 'yes',
        EMPTY: '',
      },
      config: { pass_env: ['WANTED', 'EMPTY'], env: { MINE: 'set' } },
    });
    const seen = JSON.parse(answer ?? '') as Record<string, string>;
    // The shell that watches over the program may set these of its own.
    const names = Object.keys(seen).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    expect(names.sort()).toEqual(['ASSAY_PROCESS', 'EMPTY', 'LANG', 'MINE', 'PATH', 'WANTED']);
    expect(answer).not.toContain('canary');
  });

  test('a variable it is to get that is not set stops with its name, before the program is started', async () => {
    const env = { PATH: process.env['PATH'] ?? '', WANTED: 'yes' };
    const error: unknown = await run('environment', { env, config: { pass_env: ['WANTED', 'NOT_SET'] } }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(MissingVariableError);
    expect(error).toMatchObject({ message: 'agent.pass_env names NOT_SET, which is not set' });
    const own = { pass_env: ['MINE'], env: { MINE: 'set' } };
    expect((await run('environment', { env, config: own })).answer).toContain('"MINE":"set"');
  });

  test('D9: a secret passed on to it is neither in the answer nor in what it logged', async () => {
    const secret = 'a-secret-of-the-user';
    const trajectory = await run('leak', {
      env: { PATH: process.env['PATH'] ?? '', MY_KEY: secret },
      config: { pass_env: ['MY_KEY'] },
    });
    expect(trajectory.answer).toMatch(/^it is \[api key/);
    expect(JSON.stringify(trajectory)).not.toContain(secret);
  });

  test('D9: a secret it logged before it died is neither in the error nor, in part, in what is kept', async () => {
    const secret = 'a-secret-of-the-user';
    const part = { env: { PATH: process.env['PATH'] ?? '', MY_KEY: secret }, config: { pass_env: ['MY_KEY'] } };
    await expect(run('leakAndDie', { ...part, options: { tail: 0 } })).rejects.toThrow(/last wrote: key \[api key/);
    // The places where what is kept would cut the secret in two.
    for (const tail of [490, 16 * 1024 - 8]) {
      const trajectory = await run('leakAndDie', { ...part, options: { tail, exit: 3 } });
      expect(trajectory.final_status_reason).toContain('exit code 3');
      expect(JSON.stringify(trajectory)).not.toContain('the-user');
    }
  });

  test('T6, T10: calls of one turn, with equal ids too, are answered together in their order', async () => {
    const calls = [
      { id: 'x', tool: 'refund', args: { order: 1 } },
      { id: 'x', tool: 'get_order', args: { order: 2 } },
    ];
    const trajectory = await run('calls', { options: { calls } });
    expect(JSON.parse(trajectory.answer ?? '')).toEqual({
      type: 'tool_results',
      results: [
        { id: 'x', tool: 'refund', error: { kind: 'http_500', message: expect.any(String) as string } },
        { id: 'x', tool: 'get_order', result: { status: 'paid' } },
      ],
    });
    expect(trajectory.tool_calls.map(({ tool, turn }) => [tool, turn])).toEqual([
      ['refund', 0],
      ['get_order', 0],
    ]);
  });

  test('T7, T9: calls that are none are malformed with their text, told to the program, and the run goes on', async () => {
    const raw = [
      { type: 'custom' },
      'oops',
      { tool: 'f', args: '{}""' },
      { tool: 'f', args: '' },
      { tool: 'f', args: 'null' },
    ];
    for (const mode of ['calls', 'own']) {
      const trajectory = await run(mode, { options: { calls: raw } });
      expect(trajectory.final_status).toBe('COMPLETED');
      expect(trajectory.tool_calls.map(({ args, raw_arguments }) => [args, raw_arguments])).toEqual([
        [null, '{"type":"custom"}'],
        [null, 'oops'],
        [null, '{}""'],
        [null, ''],
        [null, 'null'],
      ]);
      expect(trajectory.tool_calls.every((call) => call.error?.kind === 'malformed_call')).toBe(true);
    }
  });

  test('that stays is told the next turns; one that ends after each result is started anew', async () => {
    const turns = ['one', 'two', 'three'];
    expect(await run('dialogue', { evalCase: { turns } })).toMatchObject({ answer: '3 three', iterations: 3 });
    const again = await run('once', { evalCase: { turns } });
    expect(again).toMatchObject({ answer: '6 three', final_status: 'COMPLETED', iterations: 3 });
  });
});

describe('a program that is wrong', () => {
  test.each([
    ['exit', /ended with exit code 3 and without a result; it last wrote: Traceback: no such model/],
    ['garbage', /wrote no JSON .*standard error.*Loading model/],
    ['list', /expected \{"type"/],
    ['unknown', /unknown type "shout"/],
    ['untyped', /wrote a line without "type"; the answer is \{"type": "result", .*: \{"output":"a \\"b\\""\}$/],
    ['nothing', /the result has no "answer"/],
  ])('%s: FAILED, and says why', async (mode, reason) => {
    const trajectory = await run(mode);
    expect(trajectory).toMatchObject({ final_status: 'FAILED', answer: null });
    expect(trajectory.final_status_reason).toMatch(reason);
  });

  test('a bad end after the result is a remark, not a failure', async () => {
    expect(await run('late')).toMatchObject({
      final_status: 'COMPLETED',
      answer: 'done',
      final_status_reason: 'the program ended with exit code 4 after its result',
    });
  });

  test('output without end is cut; memory stays bounded', async () => {
    const before = process.memoryUsage().rss;
    const trajectory = await run('huge', { config: { max_output_bytes: 1_000_000 } });
    expect(trajectory.final_status_reason).toBe('the program wrote more than 1000000 bytes (agent.max_output_bytes)');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('a flood of blank lines is read in the time its length takes', async () => {
    const startedAt = performance.now();
    expect((await run('blank', { options: { lines: 1_000_000 } })).answer).toBe('done');
    // Taking them from the front of a list one by one takes ten seconds and more, in which nothing else goes on.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('of what it logs the end is kept', async () => {
    const { stderr } = await run('noisy');
    expect(stderr).toMatch(/xthe end$/);
    expect(stderr?.length).toBeLessThanOrEqual(16 * 1024);
  });

  test('R10: calls without end meet the caps by name', async () => {
    for (const [limits, reason] of [
      [{ max_tool_calls: 3 }, 'max_tool_calls (3) is reached'],
      [{ max_iterations: 2 }, 'max_iterations (2) is reached'],
    ] as const) {
      const trajectory = await run('endless', { limits });
      expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', final_status_reason: reason });
    }
  });

  test('a signal from outside is a death, not a failure of the agent', async () => {
    await expect(run('killed')).rejects.toThrow(WorkerCrashError);
    await expect(run('killed')).rejects.toThrow(/ended by SIGKILL/);
  });

  test('one that cannot be started stops with its name', async () => {
    await expect(run('default', { config: { command: ['no-such-program-here'] } })).rejects.toThrow(UserError);
    await expect(run('default', { config: { command: ['./missing.sh'] } })).rejects.toThrow(
      /no program ".\/missing.sh"/,
    );
  });
});

describe('no process is left', () => {
  const gone = async (pids: number[]): Promise<void> =>
    until(() => !pids.some(isRunning), `processes ${pids.join(', ')} to end`);

  test('after its time: TIMEOUT, and the whole group is killed', async () => {
    const running = run('hang', { limits: { timeout_ms: 700 } });
    const pids = await pidsOf();
    expect(await running).toMatchObject({ final_status: 'TIMEOUT' });
    await gone(pids);
  });

  test('one that waits for the end of its input is told to read a line', async () => {
    const limits = { timeout_ms: 700 };
    const silent = await run('wait', { limits });
    expect(silent.final_status_reason).toMatch(
      /^timeout_ms \(700 ms\) is used up; the program wrote no line\. .*read one line/,
    );
    const spoke = await run('ask', { limits });
    expect(spoke.final_status_reason).toBe('timeout_ms (700 ms) is used up');
  });

  test('after a cancel, within a second', async () => {
    const cancel = new AbortController();
    const running = run('hang', { input: { signal: cancel.signal } });
    const pids = await pidsOf();
    const startedAt = performance.now();
    cancel.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await gone(pids);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test('after its answer, when it left a child that holds its output', async () => {
    const trajectory = await run('leave');
    expect(trajectory.answer).toBe('done');
    await gone(await pidsOf());
  });

  test.runIf(process.platform === 'linux')(
    'after its answer, when it left a child in a session of its own',
    async () => {
      const trajectory = await run('detach');
      expect(trajectory.answer).toBe('done');
      // Killed already; a process dies when it is next run.
      await gone(await pidsOf());
    },
  );

  test('after the agent is closed', async () => {
    const running = run('hang');
    const pids = await pidsOf();
    await agent?.close();
    await expect(running).rejects.toThrow(WorkerCrashError);
    await gone(pids);
  });

  test.skipIf(process.platform === 'win32').each(process.platform === 'linux' ? ['hang', 'detach'] : ['hang'])(
    'after its worker was killed: %s',
    async (mode) => {
      const parent = spawn(
        process.execPath,
        [join(import.meta.dirname, 'parent.ts'), PROGRAM, join(folder, 'pids'), mode],
        {
          stdio: 'inherit',
        },
      );
      const pids = await pidsOf();
      expect(pids.every(isRunning)).toBe(true);
      parent.kill('SIGKILL');
      await gone(pids);
    },
  );
});
