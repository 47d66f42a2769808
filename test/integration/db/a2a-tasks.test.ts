import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeA2aTask, findA2aTask, insertA2aTask } from '../../../src/db/a2a-tasks.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { claimA2aPush, dropPushSecrets, releaseA2aPush, storePushed } from '../../../src/db/a2a-pushes.ts';
import { createPushConfigs, newPush, type PushConfigs } from '../../../src/server/a2a/push-configs.ts';
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

test('a webhook that comes with a message keeps those that are set at that moment, and counts with them', async () => {
  const configs = await configsOf('follow-up');
  const from = { state: 'waiting', evaluation_id: null } as const;
  const withMessage = (id: string): Promise<boolean> =>
    changeA2aTask(db, 'follow-up', { note: id, push: newPush(hook('follow-up', id), '1.0') }, from);
  // Both read the task before either writes.
  await Promise.all([configs.add(hook('follow-up', 'set'), '1.0'), withMessage('sent')]);
  expect((await idsOf(configs, 'follow-up')).sort()).toEqual(['sent', 'set']);
  expect(await withMessage('sent')).toBe(true);
  expect(await idsOf(configs, 'follow-up')).toHaveLength(2);
  await Promise.all(ten.slice(2).map((id) => configs.add(hook('follow-up', id), '1.0')));
  expect(await withMessage('eleventh')).toBe(false);
  expect(await idsOf(configs, 'follow-up')).toHaveLength(10);
});

test('one server at a time tells; another takes over when its time is up, or it lets go', async () => {
  await configsOf('claimed');
  const claim = (pusher: string, ms = 60_000): Promise<boolean> => claimA2aPush(db, 'claimed', pusher, ms);
  const both = await Promise.all([claim('a'), claim('b')]);
  expect(both.filter(Boolean)).toHaveLength(1);
  const [holder, other] = both[0] ? ['a', 'b'] : ['b', 'a'];
  expect(await claim(holder as string)).toBe(true);
  await storePushed(db, 'claimed', other as string, 'completed');
  expect(await findA2aTask(db, 's', 'claimed')).toMatchObject({ pushed: null, pusher: holder });
  await releaseA2aPush(db, 'claimed', other as string);
  expect(await claim(other as string)).toBe(false);
  await claim(holder as string, -1);
  expect(await claim(other as string)).toBe(true);
  await releaseA2aPush(db, 'claimed', other as string);
  expect(await claim(holder as string)).toBe(true);
});

test('secrets of webhooks are given out to nobody, and are gone once the end was told', async () => {
  const configs = await configsOf('secrets');
  const secret = { token: 'tok-1234', authentication: { scheme: 'Bearer', credentials: 'cred-5678' } };
  const config = TaskPushNotificationConfig.fromJSON({ ...hook('secrets', 'one'), ...secret });
  const shown = [
    await configs.add(config, '1.0'),
    await configs.get('secrets', 'one'),
    ...(await configs.list('secrets')),
  ];
  expect(shown).toHaveLength(3);
  for (const one of shown) {
    expect(JSON.stringify(one)).not.toMatch(/tok-1234|cred-5678/);
    expect(one).toMatchObject({ url: 'https://example.com/one', authentication: { scheme: 'Bearer' } });
  }
  const stored = async (): Promise<string> => JSON.stringify((await findA2aTask(db, 's', 'secrets'))?.push_configs);
  await claimA2aPush(db, 'secrets', 'a', 60_000);
  await storePushed(db, 'secrets', 'a', 'open');
  await dropPushSecrets(db, 'secrets');
  expect(await stored()).toMatch(/tok-1234.*cred-5678|cred-5678.*tok-1234/);
  await storePushed(db, 'secrets', 'a', 'completed');
  await dropPushSecrets(db, 'secrets');
  expect(await stored()).not.toMatch(/tok-1234|cred-5678/);
  expect(await configs.list('secrets')).toHaveLength(1);
});

test.each(['a\r\nx: y', 'a\u0000', 'ünïcode€'])(
  'a secret that no header can hold is refused, unsaid (%j)',
  async (bad) => {
    const configs = await configsOf(`bad ${bad.length}${bad.charCodeAt(1)}`);
    for (const more of [
      { token: bad },
      { authentication: { scheme: bad } },
      { authentication: { scheme: 'B', credentials: bad } },
    ]) {
      const config = TaskPushNotificationConfig.fromJSON({
        taskId: 'x',
        id: 'one',
        url: 'https://example.com',
        ...more,
      });
      const refused = configs.add({ ...config, taskId: `bad ${bad.length}${bad.charCodeAt(1)}` }, '1.0');
      await expect(refused).rejects.toThrow('texts of one line');
      await expect(refused).rejects.not.toThrow(bad);
    }
  },
);
