import { TaskState } from '@a2a-js/sdk';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EvaluationStatus } from '../../../src/core/evaluation.ts';
import type { FinalStatus } from '../../../src/core/trajectory.ts';
import { findA2aTask, insertA2aTask, type NewA2aTask } from '../../../src/db/a2a-tasks.ts';
import { createAgentService } from '../../../src/server/a2a/agent-service.ts';
import { listTasks } from '../../../src/server/a2a/list-tasks.ts';
import type { Served } from '../../../src/server/a2a/served.ts';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { stateOf, viewTask } from '../../../src/server/a2a/task-view.ts';
import { trajectory } from '../../unit/scorers/fixtures.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';

let rig: ServerRig;
let kinds: Served[];
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }] });
  const { context, session } = rig;
  const file = rig.suite('shop', 1);
  kinds = [
    await createSuiteService({ context, db: session.db, files: [file] }),
    await createAgentService({ context, db: session.db, file }),
  ];
});
afterAll(() => rig.close());

const REQUEST = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  pageSize: 100,
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
};

const STATES = [
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

type End = FinalStatus | 'none' | 'no trajectory' | 'carried out';
const ENDS: End[] = [
  'COMPLETED',
  'PARTIAL_SUCCESS',
  'ESCALATED',
  'INPUT_REQUIRED',
  'FAILED',
  'TIMEOUT',
  'MAX_ITERATIONS',
  'CANCELED',
  'none',
  'no trajectory',
];

let count = 0;
async function store(served: Served, more: Partial<NewA2aTask>): Promise<string> {
  count += 1;
  const id = `task-${count}`;
  const task = { id, context_id: 'c', served: served.key, evaluation_id: null, state: 'started', note: null } as const;
  await insertA2aTask(rig.session.db, { ...task, history: [], push_configs: [], ...more });
  return id;
}

/** An evaluation in this state, with one case whose trial came to this end. */
async function evaluation(status: EvaluationStatus, begun: boolean, end: End): Promise<string> {
  const { db } = rig.session;
  const parts = { cases: [{ id: 'message', input: 'hello', expected: {} }] };
  const { id } = await (end === 'carried out' ? rig.rig.evaluate(rig.model, parts) : rig.rig.create(rig.model, parts));
  await sql`update evaluation set status = ${status}, started_at = ${begun ? new Date() : null} where id = ${id}`.execute(
    db,
  );
  if (end === 'none' || end === 'carried out') return id;
  await sql`insert into trial (evaluation_id, case_id, trial_index, fence, worker, final_status)
    values (${id}, 'message', 1, 1, 'w', ${end === 'no trajectory' ? 'COMPLETED' : end})`.execute(db);
  if (end === 'no trajectory') return id;
  const body = JSON.stringify(trajectory([], { final_status: end }));
  await sql`insert into trajectory (evaluation_id, case_id, trial_index, fence, body)
    values (${id}, 'message', 1, 1, ${body}::jsonb)`.execute(db);
  return id;
}

test.each([0, 1])(
  'the state a task is listed by is the state it is shown in, in every state (kind %i)',
  async (kind) => {
    const served = { ...(kinds[kind] as Served), key: `states-${kind}` };
    const { db } = rig.session;
    for (const state of ['waiting', 'rejected', 'canceled', 'started'] as const) await store(served, { state });
    const statuses: [EvaluationStatus, boolean][] = [
      ['running', false],
      ['running', true],
      ['paused', true],
      ['canceled', true],
    ];
    for (const [status, begun] of statuses) {
      await store(served, { evaluation_id: await evaluation(status, begun, 'COMPLETED') });
    }
    // A report of suites is made of results: those of an evaluation that was carried out.
    for (const end of kind === 0 ? (['carried out'] as const) : ENDS) {
      for (const status of ['completed', 'stopped'] as const) {
        await store(served, { evaluation_id: await evaluation(status, true, end) });
      }
    }
    // A task that asked, and was canceled then.
    const asked = await evaluation('completed', true, 'INPUT_REQUIRED');
    const canceled = await store(served, { state: 'canceled', evaluation_id: asked });
    const look = async (id: string) => viewTask(db, served, (await findA2aTask(db, served.key, id)) as never);
    const all = (await listTasks(db, served, REQUEST, look)).tasks;
    expect(all).toHaveLength(kind === 0 ? 11 : 29);
    expect(new Set(all.map(stateOf))).toEqual(new Set(STATES));
    expect(stateOf(await look(canceled))).toBe(TaskState.TASK_STATE_CANCELED);
    for (const status of [...STATES, TaskState.TASK_STATE_AUTH_REQUIRED]) {
      const { tasks, totalSize } = await listTasks(db, served, { ...REQUEST, status }, look);
      const expected = all.filter((task) => stateOf(task) === status);
      expect(
        tasks.map(({ id }) => id),
        `state ${status}`,
      ).toEqual(expected.map(({ id }) => id));
      expect(totalSize).toBe(expected.length);
    }
  },
);

test('of ten thousand tasks only those of the page are read, filtered or not', async () => {
  const served = { ...(kinds[1] as Served), key: 'many' };
  const { db } = rig.session;
  const evaluations = await Promise.all([
    evaluation('completed', true, 'COMPLETED'),
    evaluation('running', true, 'none'),
  ]);
  await sql`insert into a2a_task (id, context_id, served, evaluation_id, state, history, push_configs)
    select 'many-' || n, 'c', 'many', case when n % 100 = 0 then ${evaluations[1]} else ${evaluations[0]} end, 'started', '[]', '[]'
    from generate_series(1, 10000) n`.execute(db);
  let looks = 0;
  const look = async (id: string) => {
    looks += 1;
    return viewTask(db, served, (await findA2aTask(db, served.key, id)) as never);
  };
  const { tasks, totalSize } = await listTasks(
    db,
    served,
    { ...REQUEST, status: TaskState.TASK_STATE_WORKING, pageSize: 10 },
    look,
  );
  expect(totalSize).toBe(100);
  expect(tasks).toHaveLength(10);
  expect(looks).toBe(10);
});
