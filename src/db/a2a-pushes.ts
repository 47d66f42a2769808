import { sql, type RawBuilder } from 'kysely';
import type { Json } from '../core/json.ts';
import { escapeText } from '../core/storable-text.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';

/** Most push configurations of one task. */
export const MOST_PUSH_CONFIGS = 10;

/** A push configuration as it is stored. */
export interface NewA2aPush {
  /** Of the configuration: it takes the place of one of the same id. */
  id: string;
  config: Json;
}

/** The push configurations of the row but the one of this id, as jsonb. */
function configsBut(configId: string): RawBuilder<unknown> {
  return sql`coalesce((
    select jsonb_agg(one order by place) from jsonb_array_elements(push_configs) with ordinality as stored (one, place)
    where one -> 'config' ->> 'id' is distinct from ${escapeText(configId)}), '[]'::jsonb)`;
}

/** The push configurations of the row with this one, and whether they are not too many. For one statement. */
export function withA2aPush({ id, config }: NewA2aPush): { configs: RawBuilder<string>; fits: RawBuilder<boolean> } {
  const others = configsBut(id);
  return {
    configs: sql`${others} || ${toJsonb([config])}::jsonb`,
    fits: sql`jsonb_array_length(${others}) < ${MOST_PUSH_CONFIGS}`,
  };
}

/**
 * Adds a push configuration, in the place of one of the same id. One statement: of two at once none is lost.
 * @returns false when the task has {@link MOST_PUSH_CONFIGS} others, or is none: then nothing is changed
 */
export async function addA2aPushConfig(db: Db, taskId: string, push: NewA2aPush): Promise<boolean> {
  const { configs, fits } = withA2aPush(push);
  // What a task waits for is told to the new one too; an end that was told is not told again.
  const result = await sql`
    update a2a_task set push_configs = ${configs}, pushed = case when ${IS_ENDED} then pushed end
    where id = ${escapeText(taskId)} and ${fits}`.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/** True when the end of the task was told. */
const IS_ENDED = sql.raw(`coalesce(pushed, '') in ('completed', 'failed', 'canceled', 'rejected')`);

/** Removes the push configuration of this id, if the task has it. */
export async function removeA2aPushConfig(db: Db, taskId: string, configId: string): Promise<void> {
  await sql`update a2a_task set push_configs = ${configsBut(configId)} where id = ${escapeText(taskId)}`.execute(db);
}

/**
 * Takes, or keeps, the telling of a task's webhooks for `ms` milliseconds.
 * @returns false while another server has it
 */
export async function claimA2aPush(db: Db, taskId: string, pusher: string, ms: number): Promise<boolean> {
  const result = await sql`
    update a2a_task set pusher = ${pusher}, pusher_until = now() + ${ms} * interval '1 millisecond'
    where id = ${escapeText(taskId)} and (pusher is null or pusher = ${pusher} or pusher_until < now())`.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/** Lets another server tell the webhooks. */
export async function releaseA2aPush(db: Db, taskId: string, pusher: string): Promise<void> {
  await sql`update a2a_task set pusher = null, pusher_until = null
    where id = ${escapeText(taskId)} and pusher = ${pusher}`.execute(db);
}

/** Stores what was told last, if the server still has the telling. */
export async function storePushed(db: Db, taskId: string, pusher: string, pushed: string): Promise<void> {
  await sql`update a2a_task set pushed = ${pushed} where id = ${escapeText(taskId)} and pusher = ${pusher}`.execute(db);
}

/** Removes token and credentials from the configurations of a task whose end was told: nobody needs them any more. */
export async function dropPushSecrets(db: Db, taskId: string): Promise<void> {
  await sql`
    update a2a_task set push_configs = (
      select jsonb_agg(one #- '{config,token}' #- '{config,authentication,credentials}' order by place)
      from jsonb_array_elements(push_configs) with ordinality as stored (one, place))
    where id = ${escapeText(taskId)} and push_configs <> '[]'::jsonb and ${IS_ENDED}`.execute(db);
}
