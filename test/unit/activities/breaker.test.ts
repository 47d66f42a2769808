import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBreaker, guardAgent, isUnreachable, StopError } from '../../../src/activities/breaker.ts';
import type { Agent, AgentInput } from '../../../src/agents/agent.ts';
import { ModelError } from '../../../src/core/errors.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { caseOf, inputOf } from '../agents/trial-fixture.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../src/core/model.ts';

const request: ModelRequest = { model: 'm', messages: [] };
const options = { signal: new AbortController().signal, timeoutMs: 1_000 };
const reply = { content: 'hi' } as ModelReply;
const after = <T>(ms: number, value: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(value());
      } catch (error) {
        reject(error as Error);
      }
    }, ms);
  });
const fails = (error: Error) => (): never => {
  throw error;
};
const refused = (): ModelError =>
  new ModelError('connection', 'refused', {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  });

/** A client whose answers a test writes; `calls` counts. */
function scripted(answer: () => Promise<ModelReply>): ModelClient & { calls: number } {
  const client = {
    calls: 0,
    complete: (): Promise<ModelReply> => {
      client.calls += 1;
      return answer();
    },
  };
  return client;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const breakerOf = (client: ModelClient, graceMs = 60_000): ModelClient =>
  createBreaker(client, { graceMs, now: Date.now });

describe('R8: what every trial would meet', () => {
  test.each(['unauthorized', 'forbidden', 'quota', 'model_not_found'] as const)(
    'R8: %s: fifty at once cost one call',
    async (kind) => {
      const client = scripted(() => after(300, fails(new ModelError(kind, 'no'))));
      const breaker = breakerOf(client);
      const all = Promise.allSettled(Array.from({ length: 50 }, () => breaker.complete(request, options)));
      await vi.advanceTimersByTimeAsync(2_000);
      const results = await all;
      expect(client.calls).toBe(1);
      for (const result of results) {
        expect(result.status === 'rejected' && result.reason instanceof StopError && result.reason.stop).toEqual({
          kind,
          message: 'no',
        });
      }
      // Open stays open, without a call.
      await expect(breaker.complete(request, options)).rejects.toBeInstanceOf(StopError);
      expect(client.calls).toBe(1);
    },
  );

  test('R8: an address fetch refuses stops at the first call, as an endpoint that cannot be reached', async () => {
    const client = scripted(() => Promise.reject(new ModelError('invalid_endpoint', 'Correct base_url')));
    const breaker = breakerOf(client);
    for (let n = 0; n < 3; n += 1) {
      const error: unknown = await breaker.complete(request, options).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StopError);
      expect((error as StopError).stop).toEqual({ kind: 'endpoint_unreachable', message: 'Correct base_url' });
    }
    expect(client.calls).toBe(1);
  });

  test.each(['rate_limit', 'server_error', 'context_length', 'bad_request', 'aborted'] as const)(
    '%s is passed on and stops nothing',
    async (kind) => {
      const error = new ModelError(kind, 'no', { status: 400 });
      const client = scripted(() => Promise.reject(error));
      const breaker = breakerOf(client);
      for (let n = 0; n < 20; n += 1) await expect(breaker.complete(request, options)).rejects.toBe(error);
      expect(client.calls).toBe(20);
    },
  );
});

test('a slow first call lets the others follow after a second', async () => {
  const client = scripted(() => after(5_000, () => reply));
  const breaker = breakerOf(client);
  const all = Promise.all(Array.from({ length: 10 }, () => breaker.complete(request, options)));
  await vi.advanceTimersByTimeAsync(990);
  expect(client.calls).toBe(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(client.calls).toBe(10);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await all).toHaveLength(10);
});

test('a quick first call lets the others follow at once; later ones wait for nobody', async () => {
  const client = scripted(() => after(50, () => reply));
  const breaker = breakerOf(client);
  const all = Promise.all(Array.from({ length: 10 }, () => breaker.complete(request, options)));
  await vi.advanceTimersByTimeAsync(60);
  expect(client.calls).toBe(10);
  await vi.advanceTimersByTimeAsync(60);
  await all;
  expect(vi.getTimerCount()).toBe(0);
});

describe('an endpoint nobody listens at', () => {
  test('that never answered opens it after three tries over a second', async () => {
    const client = scripted(() => Promise.reject(refused()));
    const breaker = breakerOf(client);
    const seen: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      await breaker.complete(request, options).catch((error: Error) => void seen.push(error.name));
      await vi.advanceTimersByTimeAsync(400);
    }
    expect(seen).toEqual(['ModelError', 'ModelError', 'ModelError', 'StopError', 'StopError']);
    expect(client.calls).toBe(4);
    await expect(breaker.complete(request, options)).rejects.toMatchObject({ stop: { kind: 'endpoint_unreachable' } });
  });

  test('that had answered may be away for the grace', async () => {
    let away = false;
    const client = scripted(() => (away ? Promise.reject(refused()) : Promise.resolve(reply)));
    const breaker = breakerOf(client, 10_000);
    const attempt = (): Promise<string> =>
      breaker.complete(request, options).then(
        () => 'ok',
        (error: Error) => error.name,
      );
    expect(await attempt()).toBe('ok');
    away = true;
    for (let n = 0; n < 10; n += 1) {
      expect(await attempt()).toBe('ModelError');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    // Back just in time: the count begins anew.
    away = false;
    expect(await attempt()).toBe('ok');
    away = true;
    expect(await attempt()).toBe('ModelError');
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await attempt()).toBe('StopError');
  });

  test('an error it sent is a sign of life', async () => {
    let error = refused();
    const client = scripted(() => Promise.reject(error));
    const breaker = breakerOf(client, 10_000);
    const attempt = (): Promise<string> =>
      breaker.complete(request, options).then(
        () => 'ok',
        (e: Error) => e.name,
      );
    expect(await attempt()).toBe('ModelError');
    expect(await attempt()).toBe('ModelError');
    await vi.advanceTimersByTimeAsync(5_000);
    error = new ModelError('server_error', 'busy', { status: 503 });
    expect(await attempt()).toBe('ModelError');
    error = refused();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await attempt()).toBe('ModelError');
  });
});

test('R8: a trial that is refused for longer than the grace stops the evaluation, though others end well', async () => {
  const agent = {
    run: ({ evalCase }: AgentInput): Promise<Trajectory> =>
      evalCase.id === 'tool' ? Promise.reject(refused()) : Promise.resolve({} as Trajectory),
  };
  const guarded = guardAgent(agent, { graceMs: 10_000, now: Date.now, alone: false });
  const run = (id: string): Promise<Trajectory> =>
    guarded.run(inputOf({ model: { complete: () => Promise.reject(new Error('unused')) }, evalCase: caseOf({ id }) }));
  for (let second = 0; second <= 10; second += 1) {
    await run('other');
    await expect(run('tool')).rejects.toBeInstanceOf(ModelError);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await run('other');
  await expect(run('tool')).rejects.toThrow('refused (tried 12 times in 11 s)');
  await expect(run('other')).rejects.toBeInstanceOf(StopError);
});

test('R8: a trial that got through in between starts its grace anew', async () => {
  let away = true;
  const agent: Agent = {
    run: () => (away ? Promise.reject(refused()) : Promise.resolve({} as Trajectory)),
  };
  const guarded = guardAgent(agent, { graceMs: 10_000, now: Date.now, alone: false });
  const model = { complete: () => Promise.reject(new Error('unused')) };
  for (let round = 0; round < 3; round += 1) {
    away = false;
    await guarded.run(inputOf({ model }));
    away = true;
    await expect(guarded.run(inputOf({ model }))).rejects.toBeInstanceOf(ModelError);
    await vi.advanceTimersByTimeAsync(8_000);
  }
});

test('isUnreachable looks down the causes, and into the two addresses of localhost', () => {
  expect(isUnreachable(refused())).toBe(true);
  const both = new AggregateError([Object.assign(new Error('::1'), { code: 'ECONNREFUSED' })], 'all failed');
  expect(isUnreachable(new ModelError('connection', 'x', { cause: new Error('fetch failed', { cause: both }) }))).toBe(
    true,
  );
  expect(
    isUnreachable(
      new ModelError('connection', 'x', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) }),
    ),
  ).toBe(false);
  expect(isUnreachable(new ModelError('connection', 'x'))).toBe(false);
});
