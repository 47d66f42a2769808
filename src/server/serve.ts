import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startEvaluation } from '../commands/run/start-evaluation.ts';
import { whileUnavailable } from '../commands/stack/while-unavailable.ts';
import type { CommandContext } from '../commands/context.ts';
import type { Session } from '../commands/session.ts';
import { EXIT, UserError } from '../core/errors.ts';
import { installedPackage } from '../core/installed-package.ts';
import { findA2aTask, openA2aTasks } from '../db/a2a-tasks.ts';
import { findEvaluation } from '../db/evaluations.ts';
import { whileTransient } from '../db/transient.ts';
import { agentCardOf } from './a2a/agent-card.ts';
import { hideErrors } from './a2a/hide-errors.ts';
import { createPusher, type Pusher } from './a2a/pusher.ts';
import { createRequestHandler } from './a2a/request-handler.ts';
import type { Served } from './a2a/served.ts';
import { createTaskStarter } from './a2a/start-task.ts';
import { viewTask } from './a2a/task-view.ts';
import { createApp } from './app.ts';
import { createRateLimit } from './rate-limit.ts';

export interface ServeOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Address clients use, where it is not the one listened on (a proxy, TLS). */
  publicUrl: string | null;
  token: string | null;
  /** Requests a minute of one client address. */
  rateLimit: number;
  /** Tasks that may run at once. */
  maxTasks: number;
  /** Milliseconds a request may take to arrive, its body included; then the connection is closed. Default 60,000. */
  requestMs?: number;
  allowPrivateWebhooks: boolean;
  cardForm: '0.3' | '1.0';
  /** True when a worker of this process does the work. */
  ownWorker: boolean;
  log: (line: string) => void;
}

export interface RunningServer {
  url: string;
  close(): Promise<void>;
}

/** A blocking request is answered after this at the latest, milliseconds; the task goes on, and can be asked for. */
const MAX_WAIT_MS = 30 * 60_000;
/** Requests one client may make at once before the rate counts. */
const BURST = 200;
const REQUEST_MS = 60_000;
/** Of these, for the headers. */
const HEADERS_MS = 15_000;
/** How often slow ones are looked for, milliseconds. */
const CHECK_MS = 5_000;
/** Open connections get this long to end by themselves, milliseconds. */
const CLOSE_MS = 1_000;

/**
 * Publishes something as an A2A agent. Tasks that an earlier server process took go on: their workflows are started
 * where they are not, and webhooks are told what they missed.
 * @throws UserError when the port is taken
 */
export async function serveA2a(
  context: CommandContext,
  session: Session,
  served: Served,
  options: ServeOptions,
): Promise<RunningServer> {
  const { db } = session;
  const { requestMs = REQUEST_MS } = options;
  const server = createServer({
    requestTimeout: requestMs,
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    connectionsCheckingInterval: Math.min(CHECK_MS, requestMs / 4),
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const url = options.publicUrl ?? `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`;
  const card = agentCardOf(served, {
    baseUrl: url,
    version: installedPackage().version,
    secured: options.token !== null,
  });
  const pusher = createPusher({
    db,
    find: (id) => whileTransient(() => findA2aTask(db, served.key, id)),
    view: (row) => viewTask(db, served, row),
    allowPrivate: options.allowPrivateWebhooks,
    log: options.log,
  });
  const { ownWorker, maxTasks } = options;
  const handler = createRequestHandler({
    db,
    served,
    card,
    starter: createTaskStarter({ context, session, served, maxTasks, ownWorker }),
    maxWaitMs: MAX_WAIT_MS,
    pushed: (id) => pusher.follow(id),
  });
  const limit = createRateLimit({
    perMinute: options.rateLimit,
    burst: Math.min(BURST, options.rateLimit),
    now: () => performance.now(),
  });
  const { token, cardForm, log } = options;
  const requestHandler = hideErrors(handler, log);
  server.on('request', createApp({ requestHandler, card, token, publicHost: new URL(url).host, cardForm, limit, log }));
  await recoverTasks(session, served, pusher);
  return {
    url,
    async close() {
      await pusher.close();
      await closeServer(server);
    },
  };
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
    throw new UserError(`Assay cannot listen on ${host}:${port}: ${why}`, {
      exitCode: EXIT.infrastructure,
      hint: 'choose another one with --port and --host',
      cause: error,
    });
  });
}

/** A server that died may have stored a task and not started its evaluation, or left webhooks untold. */
async function recoverTasks({ db, client, config }: Session, served: Served, pusher: Pusher): Promise<void> {
  for (const { id, evaluation_id: evaluationId } of await openA2aTasks(db, served.key)) {
    const row = evaluationId === null ? null : await findEvaluation(db, evaluationId);
    if (row?.status === 'running' || row?.status === 'paused') {
      await whileUnavailable(() => startEvaluation(client, config.taskQueue, row));
    }
    pusher.follow(id);
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(timer);
}
