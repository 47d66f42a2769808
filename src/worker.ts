import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import {
  DefaultLogger,
  type LogLevel,
  NativeConnection,
  type NativeConnectionOptions,
  Runtime,
  TransportError,
  Worker,
} from '@temporalio/worker';
import { createCancellations } from './activities/cancellations.ts';
import { ACTIVITY_NAMES } from './activities/contract.ts';
import type { Pauses } from './activities/deps.ts';
import type { createActivities } from './activities/index.ts';
import type { Config } from './config.ts';
import { EXIT, UserError } from './core/errors.ts';
import { connect, type Db } from './db/connect.ts';
import { listen } from './db/listen.ts';
import type { ComposedActivities, composeActivities } from './local/compose-activities.ts';
import { createAwayFilter, createConnectionNotes } from './local/server-away.ts';
import { workflowBundle } from './local/workflow-bundle.ts';

export interface WorkerOptions {
  config: Config;
  databaseUrl: string;
  connectionOptions: NativeConnectionOptions;
  cwd: string;
  /** Gets the worker's own log lines. */
  log: (line: string) => void;
  /** Which task queues to serve; default: all three of the configuration. */
  queues?: readonly ('main' | 'agent' | 'judge')[];
  /**
   * It takes up no work before this is fulfilled; where it is rejected, the start fails with the same. Meanwhile it connects
   * and loads its code. Default: at once.
   */
  ready?: Promise<unknown> | undefined;
}

export interface RunningWorker {
  /** Stops polling, hands running trials on to other workers, closes everything. Once: later calls await the first. */
  stop(): Promise<void>;
  /** Rejects when the worker dies by itself. */
  failed: Promise<never>;
}

/** Milliseconds running activities get to end after a stop; then they are handed on. */
const GRACE_MS = 200;
let runtimeInstalled = false;

function installRuntime(level: Config['logLevel'], log: (line: string) => void): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const filter = createAwayFilter(() => performance.now());
  const logger = new DefaultLogger(level.toUpperCase() as LogLevel, ({ level: at, message, meta }) => {
    const error = meta?.['error'];
    const said = filter(message);
    if (said !== null) log(`${at} ${said}${error instanceof Error ? `: ${error.message}` : ''}`);
  });
  Runtime.install({
    logger,
    // Signals are the commands' business: Ctrl-C first stops following, then everything.
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: `temporalio_sdk_core=${level},temporalio_client=${level}` } },
  });
}

const CONNECT_PATIENCE_MS = 15_000;

/**
 * The server may be restarting just now.
 * @throws UserError (exit 4) when it stays away
 */
async function connectPatiently(options: NativeConnectionOptions): Promise<NativeConnection> {
  const deadline = performance.now() + CONNECT_PATIENCE_MS;
  for (;;) {
    try {
      return await NativeConnection.connect(options);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (performance.now() > deadline) throw temporalAway(error as Error);
      await sleep(250);
    }
  }
}

function temporalAway(cause: Error): UserError {
  return new UserError(`Temporal did not answer for ${CONNECT_PATIENCE_MS / 1000} s: ${cause.message}`, {
    exitCode: EXIT.infrastructure,
    hint: '`assay doctor` shows what is reachable',
    cause,
  });
}

/**
 * The composition root: builds every adapter, then polls. One that fails leaves no connection to Postgres behind; where
 * `ready` failed, the rest of it ends with the process.
 * @throws UserError (exit 4) when Temporal stays away
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, ready } = options;
  // It may fail before it is awaited.
  ready?.catch(() => undefined);
  installRuntime(config.logLevel, options.log);
  const connection = await connectPatiently(options.connectionOptions);
  const db = connectDatabase(options);
  const cancellations = createCancellations();
  const pauses: Pauses = new EventEmitter();
  const listener = listen(options.databaseUrl, {
    assay_cancel: (id) => cancellations.cancel(id),
    assay_pause: (id) => pauses.emit('paused', id),
  });
  async function disconnect(): Promise<void> {
    await listener.close();
    await connection.close().catch(() => undefined);
    await db.destroy();
  }
  const { resolve: compose, promise: composing } = Promise.withResolvers<ComposedActivities>();
  const activities = whenComposed(composing);
  const [workers, adapters] = await withShortStacks(() => {
    const creating = Promise.all(
      queuesOf(options).map((taskQueue) => createWorker(config, connection, { taskQueue, activities })),
    );
    compose(loadActivities(creating, { config, db, cancellations, pauses, cwd: options.cwd }));
    return Promise.all([creating, composing]);
  })
    .then(async (created) => {
      await ready?.catch(async (error: unknown) => {
        await created[1].close();
        throw error;
      });
      return created;
    })
    .catch(async (error: unknown) => {
      await disconnect();
      throw error;
    });
  const runs = workers.map((worker) => worker.run());
  const failed = Promise.race(runs.map((run) => run.then(() => new Promise<never>(() => undefined))));
  failed.catch(() => undefined);
  let stopped: Promise<void> | null = null;
  async function stop(): Promise<void> {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.race([Promise.allSettled(runs), sleep(30_000)]);
    await adapters.close();
    await disconnect();
  }
  return { failed, stop: () => (stopped ??= stop()) };
}

type Activities = ReturnType<typeof createActivities>;

/**
 * Their code is half of what a worker loads. It is loaded while the thread of the workflows starts, which takes as long:
 * not before there is one, because loading holds up this thread.
 */
async function loadActivities(
  creating: Promise<unknown>,
  options: Parameters<typeof composeActivities>[0],
): Promise<ComposedActivities> {
  const waiting = new AbortController();
  const thread = once(process, 'worker', { signal: waiting.signal }).catch(() => undefined);
  // A worker of activities alone has no such thread.
  await Promise.race([thread, creating]);
  waiting.abort();
  const composition = await import('./local/compose-activities.ts');
  return composition.composeActivities(options);
}

/** Activities that wait for their code. */
function whenComposed(composing: Promise<ComposedActivities>): Activities {
  const activities = ACTIVITY_NAMES.map((name) => [
    name,
    async (input: unknown) => ((await composing).activities[name] as (input: unknown) => Promise<unknown>)(input),
  ]);
  return Object.fromEntries(activities) as Activities;
}

/** Frames of a stack in workflow code: enough to see which step, cheap enough to be taken for every promise. */
const WORKFLOW_STACK_FRAMES = 3;

/**
 * The SDK takes a formatted stack for every promise of a workflow, which with V8's ten frames is a third of the workflow
 * thread's time. The limit is read when a V8 context is made, so it is lowered just while the workers make theirs.
 */
async function withShortStacks<T>(create: () => Promise<T>): Promise<T> {
  setFlagsFromString(`--stack-trace-limit=${WORKFLOW_STACK_FRAMES}`);
  try {
    return await create();
  } finally {
    setFlagsFromString('--stack-trace-limit=10');
  }
}

async function createWorker(
  config: Config,
  connection: NativeConnection,
  work: { taskQueue: string; activities: Activities },
): Promise<Worker> {
  const bundle = work.taskQueue === config.taskQueue ? await workflowBundle(`${config.cacheFolder}/workflows`) : null;
  return Worker.create({
    ...work,
    connection,
    namespace: config.namespace,
    ...(bundle === null ? {} : { workflowBundle: bundle }),
    maxConcurrentActivityTaskExecutions: config.maxActivities,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxCachedWorkflows: 200,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
    maxEagerActivityReservationsPerWorkflowTask: 50,
    // Otherwise a workflow of a killed worker waits 10 s for that worker.
    stickyQueueScheduleToStartTimeout: '1s',
    shutdownGraceTime: GRACE_MS,
    shutdownForceTime: '20s',
  });
}

function connectDatabase({ databaseUrl, log }: WorkerOptions): Db {
  const note = createConnectionNotes(() => performance.now());
  return connect(databaseUrl, {
    poolSize: 12,
    alwaysByIndex: true,
    onConnectionError(error) {
      const said = note(error);
      if (said !== null) log(`WARN ${said}`);
    },
  });
}

function queuesOf(options: WorkerOptions): string[] {
  const { config } = options;
  const names = { main: config.taskQueue, agent: config.agentTaskQueue, judge: config.judgeTaskQueue };
  const wanted = options.queues ?? (['main', 'agent', 'judge'] as const);
  return [...new Set(wanted.map((name) => names[name]))];
}
