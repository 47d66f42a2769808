import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findA2aTask, insertA2aTask } from '../../../src/db/a2a-tasks.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { createPushConfigs, type PushConfigs } from '../../../src/server/a2a/push-configs.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url, { poolSize: 4 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

async function configsOf(id: string): Promise<PushConfigs> {
  await insertA2aTask(db, {
    id,
    context_id: 'c',
    served: 's',
    evaluation_id: null,
    state: 'waiting',
    note: null,
    history: [],
    push_configs: [],
  });
  return createPushConfigs(db, async (taskId) => {
    const row = await findA2aTask(db, 's', taskId);
    if (row === null) throw new Error(`no task ${taskId}`);
    return row;
  });
}

const hook = (taskId: string, id: string, url = `https://example.com/${id}`): TaskPushNotificationConfig =>
  TaskPushNotificationConfig.fromJSON({ taskId, id, url });
const idsOf = async (configs: PushConfigs, task: string): Promise<string[]> =>
  (await configs.list(task)).map(({ id }) => id);
const ten = Array.from({ length: 10 }, (_, i) => `h${i}`);

test('push configurations made at once are all kept, and those removed at once all go', async () => {
  const configs = await configsOf('many');
  await Promise.all(ten.map((id) => configs.add(hook('many', id), '1.0')));
  expect((await idsOf(configs, 'many')).sort()).toEqual(ten);
  await Promise.all(ten.slice(1).map((id) => configs.remove('many', id)));
  expect(await idsOf(configs, 'many')).toEqual(['h0']);
});

test('of more than ten at once ten are kept; one of the same id takes the place of the one before', async () => {
  const configs = await configsOf('limit');
  const made = await Promise.allSettled([...ten, 'x', 'y'].map((id) => configs.add(hook('limit', id), '1.0')));
  expect(made.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  const kept = await idsOf(configs, 'limit');
  expect(kept).toHaveLength(10);
  const again = kept[3] ?? '';
  await configs.add(hook('limit', again, 'https://example.com/again'), '1.0');
  expect(await configs.get('limit', again)).toMatchObject({ url: 'https://example.com/again' });
  expect(await idsOf(configs, 'limit')).toHaveLength(10);
});
