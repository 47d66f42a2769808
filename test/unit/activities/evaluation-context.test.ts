import { expect, test } from 'vitest';
import { createAgentLease } from '../../../src/activities/agent-lease.ts';
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { createContexts, type EvaluationContext } from '../../../src/activities/evaluation-context.ts';
import type { AgentInput } from '../../../src/agents/agent.ts';
import type { ClosableAgent } from '../../../src/agents/index.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';

const INPUT = {} as AgentInput;

/** An agent whose trials end when told to. */
function stubAgent(): ClosableAgent & { closed: number; finish(): void } {
  const trials: ((trajectory: Trajectory) => void)[] = [];
  const agent = {
    closed: 0,
    run: () =>
      new Promise<Trajectory>((resolve) => {
        trials.push(resolve);
      }),
    close: () => {
      agent.closed += 1;
      return Promise.resolve();
    },
    finish: () => trials.shift()?.({} as Trajectory),
  };
  return agent;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a lease let go of closes its agent at once when idle, else after the last trial', async () => {
  const idle = stubAgent();
  (await createAgentLease(() => Promise.resolve(idle))).release();
  await settle();
  expect(idle.closed).toBe(1);

  const busy = stubAgent();
  const lease = await createAgentLease(() => Promise.resolve(busy));
  const trials = [lease.run(INPUT), lease.run(INPUT)];
  await settle();
  lease.release();
  busy.finish();
  await trials[0];
  await settle();
  expect([busy.closed, lease.running()]).toEqual([0, 1]);
  busy.finish();
  await trials[1];
  await settle();
  expect([busy.closed, lease.running()]).toEqual([1, 0]);
});

test('a step that asks after the lease was let go of is served by a new agent, closed after it', async () => {
  const made: ReturnType<typeof stubAgent>[] = [];
  const lease = await createAgentLease(() => {
    const agent = stubAgent();
    made.push(agent);
    return Promise.resolve(agent);
  });
  lease.release();
  const trial = lease.run(INPUT);
  await settle();
  made[1]?.finish();
  await trial;
  await settle();
  expect(made.map((agent) => agent.closed)).toEqual([1, 1]);
});

function openContexts(): {
  contextOf: ReturnType<typeof createContexts>;
  agents: Map<string, ReturnType<typeof stubAgent>[]>;
} {
  const agents = new Map<string, ReturnType<typeof stubAgent>[]>();
  const contextOf = createContexts({} as ActivityDeps, async (_deps, id) => {
    const agent = stubAgent();
    agents.set(id, [...(agents.get(id) ?? []), agent]);
    return { agent: await createAgentLease(() => Promise.resolve(agent)) } as EvaluationContext;
  });
  return { contextOf, agents };
}

const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `e${from + i}`);

test('beyond 20 evaluations the one asked for longest ago lets go of its agent', async () => {
  const { contextOf, agents } = openContexts();
  for (const id of ids(0, 20)) await contextOf(id, 1);
  await contextOf('e0', 1);
  await contextOf('e20', 1);
  await settle();
  const closed = [...agents].filter(([, made]) => made.some((agent) => agent.closed > 0)).map(([id]) => id);
  expect(closed).toEqual(['e1']);
  await contextOf('e0', 1);
  expect(agents.get('e0')).toHaveLength(1);
});

test('an evaluation with trials under way is kept, however long ago it was asked for', async () => {
  const { contextOf, agents } = openContexts();
  const first = await contextOf('e0', 1);
  const trial = first.agent.run(INPUT);
  for (const id of ids(1, 30)) await contextOf(id, 1);
  await settle();
  expect(await contextOf('e0', 1)).toBe(first);
  expect(agents.get('e0')?.map((agent) => agent.closed)).toEqual([0]);
  expect(agents.get('e1')?.map((agent) => agent.closed)).toEqual([1]);
  agents.get('e0')?.[0]?.finish();
  await trial;
});

test('a newer revision takes the place of the older one, whose agent ends', async () => {
  const { contextOf, agents } = openContexts();
  const old = await contextOf('e0', 1);
  expect(await contextOf('e0', 2)).not.toBe(old);
  await settle();
  expect(agents.get('e0')?.map((agent) => agent.closed)).toEqual([1, 0]);
});
