import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { listA2aTasks } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import { whileTransient } from '../../db/transient.ts';
import type { Served } from './served.ts';
import { stateOfListed } from './task-view.ts';

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 100;

/**
 * A page of tasks, newest change first. A page token names the last task of the page before it, so tasks that come
 * meanwhile do not shift what follows.
 * @throws RequestMalformedError
 */
export async function listTasks(
  db: Db,
  served: Served,
  params: ListTasksRequest,
  look: (id: string) => Promise<Task | null>,
): Promise<ListTasksResponse> {
  const { pageSize, after, afterMs } = readParams(params);
  const wanted = params.status === TaskState.TASK_STATE_UNSPECIFIED ? null : params.status;
  const listed = await whileTransient(() =>
    listA2aTasks(db, served.key, {
      ...(params.contextId === '' ? {} : { contextId: params.contextId }),
      decidingCase: wanted === null ? null : served.decidingCase,
    }),
  );
  const ids = listed
    .filter((task) => afterMs === null || task.changed_at > afterMs)
    .filter((task) => wanted === null || stateOfListed(served, task) === wanted)
    .map(({ id }) => id);
  const from = after === null ? 0 : ids.indexOf(after) + 1;
  if (after !== null && from === 0) throw new RequestMalformedError('pageToken is not one of this list.');
  const page = ids.slice(from, from + pageSize);
  const tasks = await Promise.all(page.map(look));
  const last = page.at(-1);
  return {
    tasks: tasks.filter((task) => task !== null),
    nextPageToken: from + pageSize < ids.length && last !== undefined ? Buffer.from(last).toString('base64url') : '',
    pageSize,
    totalSize: ids.length,
  };
}

function readParams(params: ListTasksRequest): { pageSize: number; after: string | null; afterMs: number | null } {
  const pageSize = params.pageSize ?? DEFAULT_PAGE;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > LARGEST_PAGE) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${LARGEST_PAGE}.`);
  }
  if (params.status === TaskState.UNRECOGNIZED) throw new RequestMalformedError('status is no task state.');
  const time = params.statusTimestampAfter;
  const afterMs = time === undefined || time === '' ? null : Date.parse(time);
  if (afterMs !== null && Number.isNaN(afterMs)) {
    throw new RequestMalformedError('statusTimestampAfter must be an ISO 8601 time.');
  }
  const after = params.pageToken === '' ? null : Buffer.from(params.pageToken, 'base64url').toString();
  return { pageSize, after, afterMs };
}
