import type { Connection } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, UserError } from '../core/errors.ts';

/** Search attributes of every evaluation workflow; all are keywords (exact match). */
const SEARCH_ATTRIBUTES = ['AssaySuite', 'AssayKind', 'AssayStatus', 'AssayLabel'] as const;

/** `temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD` */
const KEYWORD = 2;
const TYPE_NAMES = ['Unspecified', 'Text', 'Keyword', 'Int', 'Double', 'Bool', 'Datetime', 'KeywordList'];

export interface SearchAttributeState {
  missing: string[];
  /** Attributes that exist with another type; Temporal never changes a type. */
  wrongType: { name: string; type: string }[];
}

/** Which of the search attributes are missing in this namespace or of another type. */
export async function searchAttributeState(connection: Connection, namespace: string): Promise<SearchAttributeState> {
  const listed = await connection.operatorService.listSearchAttributes({ namespace });
  const state: SearchAttributeState = { missing: [], wrongType: [] };
  for (const name of SEARCH_ATTRIBUTES) {
    const type: number | undefined = listed.customAttributes[name];
    if (type === undefined) state.missing.push(name);
    else if (type !== KEYWORD) state.wrongType.push({ name, type: TYPE_NAMES[type] ?? String(type) });
  }
  return state;
}

/**
 * Creates the search attributes that are missing, through the operator API (the dev server ignores
 * `--search-attribute` on an existing database). Safe to call at every start and from several processes.
 * @throws UserError exit code 4, when one exists with another type (the server would accept and ignore the request) or
 *   this client may not create them.
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const state = await searchAttributeState(connection, namespace);
    refuseWrongType(state, namespace);
    if (state.missing.length === 0) return;
    await create(connection, namespace, state.missing);
    if (round > 0) await sleep(250);
  }
  throw new UserError(`Temporal did not create the search attributes of namespace ${namespace} within 5 s.`, {
    exitCode: EXIT.infrastructure,
    hint: manualHint(namespace),
  });
}

function refuseWrongType(state: SearchAttributeState, namespace: string): void {
  if (state.wrongType.length === 0) return;
  const found = state.wrongType.map(({ name, type }) => `${name} is ${type}`).join(', ');
  throw new UserError(`Search attributes of namespace ${namespace} have the wrong type: ${found}; Keyword is needed.`, {
    exitCode: EXIT.infrastructure,
    hint: `Temporal cannot change a type. Remove them (temporal operator search-attribute remove --name …) or use another namespace (TEMPORAL_NAMESPACE).`,
  });
}

async function create(connection: Connection, namespace: string, names: readonly string[]): Promise<void> {
  const searchAttributes = Object.fromEntries(names.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // ALREADY_EXISTS: another process created them between our list and our add.
    if (hasStatus(error, 6)) return;
    // PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED: Temporal Cloud and locked-down clusters.
    if (!hasStatus(error, 7, 12, 16)) throw error;
    throw new UserError(
      `This client may not create search attributes in namespace ${namespace}: ${names.join(', ')}.`,
      {
        exitCode: EXIT.infrastructure,
        hint: manualHint(namespace),
        cause: error,
      },
    );
  }
}

function manualHint(namespace: string): string {
  const names = SEARCH_ATTRIBUTES.map((name) => `--name ${name} --type Keyword`).join(' ');
  return `Create them once: temporal operator search-attribute create --namespace ${namespace} ${names} (Temporal Cloud: in the namespace's settings).`;
}

/** gRPC status codes: https://grpc.io/docs/guides/status-codes/ */
function hasStatus(error: unknown, ...codes: number[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && codes.includes(error.code);
}
