import { randomUUID } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { isJsonObject, type Json } from '../../core/json.ts';
import { addA2aPushConfig, MOST_PUSH_CONFIGS, type NewA2aPush, removeA2aPushConfig } from '../../db/a2a-pushes.ts';
import type { A2aTaskRow } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';

/** A configuration, and the protocol version its webhook is told in. */
export interface StoredPushConfig {
  config: TaskPushNotificationConfig;
  wireVersion: string;
}

/** The push configurations of tasks, kept with them. Token and credentials go in, and are never given out again. */
export interface PushConfigs {
  add(config: TaskPushNotificationConfig, wireVersion: string): Promise<TaskPushNotificationConfig>;
  get(taskId: string, id: string | null | undefined): Promise<TaskPushNotificationConfig>;
  list(taskId: string): Promise<TaskPushNotificationConfig[]>;
  /** A client of 0.3 may leave the id out: there is none of that name then. */
  remove(taskId: string, id: string | null | undefined): Promise<void>;
}

export function createPushConfigs(db: Db, require: (taskId: string) => Promise<A2aTaskRow>): PushConfigs {
  const list = async (taskId: string): Promise<TaskPushNotificationConfig[]> =>
    storedConfigs(await require(taskId)).map(({ config }) => withoutSecrets(config));
  return {
    async add(config, wireVersion) {
      const row = await require(config.taskId);
      const push = newPush(config, wireVersion);
      if (!(await addA2aPushConfig(db, row.id, push))) throw tooMany();
      return withoutSecrets({ ...config, id: push.id });
    },
    async get(taskId, wanted) {
      const id = wanted ?? '';
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
      await removeA2aPushConfig(db, row.id, id ?? '');
    },
  };
}

/** Id of a configuration of 0.3 that has none: it is the one of its task, which setting it again updates (0.3, 7.5). */
const UNNAMED = 'default';

/**
 * A configuration as it is stored, with an id of ours where the client gave none.
 * @throws RequestMalformedError when the webhook is no http or https address, or what goes into its headers cannot
 */
export function newPush(config: TaskPushNotificationConfig, wireVersion: string): NewA2aPush {
  const url = URL.canParse(config.url) ? new URL(config.url) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '') {
    throw new RequestMalformedError('The url of a push configuration must be an http or https address.');
  }
  for (const value of [config.token, config.authentication?.scheme, config.authentication?.credentials]) {
    // Said without the value: it is a secret.
    if (!HEADER_TEXT.test(value ?? '')) {
      throw new RequestMalformedError('token and authentication of a push configuration must be texts of one line.');
    }
  }
  const id = config.id === '' ? (isOfV1(wireVersion) ? randomUUID() : UNNAMED) : config.id;
  const stored = TaskPushNotificationConfig.toJSON({ ...config, id }) as Json;
  return { id, config: { config: stored, wire_version: wireVersion } };
}

/** What a header may hold (RFC 9110, 5.5), one byte a character. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @throws RequestMalformedError when the task has as many others as it may have */
export function requireRoom(row: A2aTaskRow, push: NewA2aPush): void {
  const others = storedConfigs(row).filter(({ config }) => config.id !== push.id);
  if (others.length >= MOST_PUSH_CONFIGS) throw tooMany();
}

function tooMany(): RequestMalformedError {
  return new RequestMalformedError(`A task has at most ${MOST_PUSH_CONFIGS} push configurations.`);
}

/** As clients see it: both are optional in the protocol, and all who may ask for the task would read them. */
function withoutSecrets(config: TaskPushNotificationConfig): TaskPushNotificationConfig {
  const { authentication } = config;
  return {
    ...config,
    token: '',
    authentication: authentication === undefined ? undefined : { ...authentication, credentials: '' },
  };
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
