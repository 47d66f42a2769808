import { randomUUID } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { isJsonObject, type Json } from '../../core/json.ts';
import { type A2aTaskRow, addA2aPushConfig, removeA2aPushConfig } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';

/** A configuration, and the protocol version its webhook is told in. */
export interface StoredPushConfig {
  config: TaskPushNotificationConfig;
  wireVersion: string;
}

/** Most webhooks of one task. */
const MOST_CONFIGS = 10;

/** The push configurations of tasks, kept with them. */
export interface PushConfigs {
  add(config: TaskPushNotificationConfig, wireVersion: string): Promise<TaskPushNotificationConfig>;
  get(taskId: string, id: string): Promise<TaskPushNotificationConfig>;
  list(taskId: string): Promise<TaskPushNotificationConfig[]>;
  remove(taskId: string, id: string): Promise<void>;
}

export function createPushConfigs(db: Db, require: (taskId: string) => Promise<A2aTaskRow>): PushConfigs {
  const list = async (taskId: string): Promise<TaskPushNotificationConfig[]> =>
    storedConfigs(await require(taskId)).map(({ config }) => config);
  return {
    async add(config, wireVersion) {
      const row = await require(config.taskId);
      const named = withId(config, wireVersion);
      const stored = { id: named.id, config: configJson(named, wireVersion), most: MOST_CONFIGS };
      if (!(await addA2aPushConfig(db, row.id, stored))) {
        throw new RequestMalformedError(`A task has at most ${MOST_CONFIGS} push configurations.`);
      }
      return named;
    },
    async get(taskId, id) {
      const configs = await list(taskId);
      // Of 0.3: "Server will return one of the associated configurations if config id is not specified" (7.6.1).
      const config = id === '' ? configs.at(-1) : configs.find((one) => one.id === id);
      if (config === undefined)
        throw new TaskNotFoundError(`There is no push configuration ${id === '' ? '' : `${id} `}of task ${taskId}.`);
      return config;
    },
    list,
    async remove(taskId, id) {
      const row = await require(taskId);
      await removeA2aPushConfig(db, row.id, id);
    },
  };
}

/** Id of a configuration of 0.3 that has none: it is the one of its task, which setting it again updates (0.3, 7.5). */
const UNNAMED = 'default';

/**
 * The configuration with an id, one of ours where the client gave none.
 * @throws RequestMalformedError when the webhook is no http or https address
 */
export function withId(config: TaskPushNotificationConfig, wireVersion: string): TaskPushNotificationConfig {
  const url = URL.canParse(config.url) ? new URL(config.url) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '') {
    throw new RequestMalformedError('The url of a push configuration must be an http or https address.');
  }
  if (config.id !== '') return config;
  return { ...config, id: isOfV1(wireVersion) ? randomUUID() : UNNAMED };
}

export function configJson(config: TaskPushNotificationConfig, wireVersion: string): Json {
  return { config: TaskPushNotificationConfig.toJSON(config) as Json, wire_version: wireVersion };
}

export function storedConfigs(row: Pick<A2aTaskRow, 'id' | 'push_configs'>): StoredPushConfig[] {
  return row.push_configs.flatMap((stored) => {
    if (!isJsonObject(stored)) return [];
    const { config, wire_version: version } = stored;
    return [
      {
        config: { ...TaskPushNotificationConfig.fromJSON(config), taskId: row.id },
        wireVersion: typeof version === 'string' ? version : '1.0',
      },
    ];
  });
}

/** True when what is told to the client has the form of 1.0. */
export function isOfV1(wireVersion: string): boolean {
  return wireVersion.startsWith('1.');
}
