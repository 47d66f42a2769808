import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from './env.ts';
import { findInstalledTemporal } from './find-temporal.ts';
import { installTemporal } from './install-temporal.ts';
import { withLock } from './lock.ts';
import { prepareHome } from './prepare-home.ts';
import { bringUp, bringDown } from './stack-services.ts';
import { liveUsers, registerUser, removeUser } from './stack-users.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { embeddedDatabaseUrl } from './postgres-server.ts';
import { readStackRecord, type StackRecord } from './stack-record.ts';
import { superviseStack, type Supervisor } from './supervise-stack.ts';
import { temporalTarget, type TemporalTarget } from './temporal-connection.ts';
import { waitForTemporal } from './temporal-server.ts';

/** Ports a user insists on; absent ones are chosen. */
export interface StackPorts {
  temporal?: number;
  ui?: number;
  postgres?: number;
}

export interface StackOptions {
  /** Folder of the stack's data, record and logs. Two runs with the same folder share one stack. */
  home: string;
  /** An existing Temporal; none is started then. Default: TEMPORAL_ADDRESS of `env`. */
  temporalAddress?: string;
  /** An existing Postgres; none is started then. Default: DATABASE_URL of `env`. */
  databaseUrl?: string;
  /** Temporal CLI to use. Default: ASSAY_TEMPORAL_BIN of `env`, PATH, the cache, else it is installed. */
  temporalBin?: string;
  ports?: StackPorts;
  /** Gets one line for each thing the user should know. */
  log: (line: string) => void;
  env: Env;
  /**
   * Aborted: the start is given up, what it has started and nobody else uses is stopped, and the signal's reason is
   * thrown. It means nothing afterwards.
   */
  signal?: AbortSignal | undefined;
  /** Restart an embedded server that dies while this process uses it. Default true. */
  supervise?: boolean;
}

/** A Temporal and a Postgres that answer. */
export interface Stack {
  temporalAddress: string;
  namespace: string;
  /** For `Connection.connect` and `NativeConnection.connect`: the address with its TLS and API key. Not for logs. */
  connectionOptions: TemporalTarget['connectionOptions'];
  /** Contains a password: not for logs. */
  databaseUrl: string;
  /** The embedded Temporal's web page; null for an existing Temporal. */
  uiUrl: string | null;
  /** Which of the two are Assay's own. */
  embedded: { temporal: boolean; postgres: boolean };
  /** Says that this process no longer needs it. The last user's release stops the embedded servers. Idempotent. */
  release(): Promise<void>;
}

/** Bound on waiting for an existing Temporal, in milliseconds. */
const EXISTING_TEMPORAL_TIMEOUT_MS = 30_000;

/**
 * Gives this process a Temporal and a Postgres: existing ones as configured, embedded ones otherwise. Embedded servers
 * outlive the process that started them: when it is killed, the next call finds them and goes on with them, starting
 * only what is missing, on the same data and the same ports.
 * @throws UserError exit code 4: folder not writable, disk full, port taken, no Temporal to be had, no answer in time.
 */
export async function ensureStack(options: StackOptions): Promise<Stack> {
  const plan = planStack(options);
  if (plan.external !== null) await waitForExisting(plan.external, options);
  else {
    // A folder that cannot be used is said now, not after minutes of building.
    prepareHome(options.home);
    // Before the lock: building Temporal takes minutes, and others may only want to leave meanwhile.
    await ensureTemporalInstalled(options);
  }
  const record = plan.embedded.temporal || plan.embedded.postgres ? await joinStack(options, plan) : null;
  try {
    const stack = describeStack(options, plan, record?.record ?? null);
    options.signal?.throwIfAborted();
    await prepareTemporal(plan.external ?? temporalTarget(options.env, stack.temporalAddress));
    const supervisor = record !== null && options.supervise !== false ? superviseStack(options, plan.embedded) : null;
    return { ...stack, release: releaseOnce(options, record?.user ?? null, supervisor) };
  } catch (error) {
    if (record !== null) await leave(options, record.user);
    throw error;
  }
}

/** The Postgres alone, for what needs no Temporal (migrations, SQL). `databaseUrl` and DATABASE_URL are not looked at. */
export async function ensureDatabaseOnly(
  options: Pick<StackOptions, 'home' | 'log' | 'env' | 'signal'>,
): Promise<Pick<Stack, 'databaseUrl' | 'release'>> {
  const plan: StackPlan = { external: null, databaseUrl: null, embedded: { temporal: false, postgres: true } };
  const { record, user } = await joinStack(options, plan);
  const release = releaseOnce(options, user, superviseStack(options, plan.embedded));
  try {
    return { databaseUrl: embeddedDatabaseUrl(options.home, portOf(record.postgres)), release };
  } catch (error) {
    await release();
    throw error;
  }
}

interface StackPlan {
  external: TemporalTarget | null;
  databaseUrl: string | null;
  embedded: { temporal: boolean; postgres: boolean };
}

function planStack(options: StackOptions): StackPlan {
  const databaseUrl = options.databaseUrl ?? options.env['DATABASE_URL'] ?? '';
  const address = options.temporalAddress ?? options.env['TEMPORAL_ADDRESS'] ?? '';
  const external = address === '' ? null : temporalTarget({ ...options.env, TEMPORAL_ADDRESS: address });
  return {
    external,
    databaseUrl: databaseUrl === '' ? null : databaseUrl,
    embedded: { temporal: external === null, postgres: databaseUrl === '' },
  };
}

async function waitForExisting(
  target: TemporalTarget,
  { log, signal }: Pick<StackOptions, 'log' | 'signal'>,
): Promise<void> {
  await waitForTemporal({
    ...target,
    log,
    signal,
    timeoutMs: EXISTING_TEMPORAL_TIMEOUT_MS,
    hint: 'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and its TLS or API key, or unset TEMPORAL_ADDRESS to use the embedded Temporal.',
  });
}

async function ensureTemporalInstalled(options: StackOptions): Promise<void> {
  if (findInstalledTemporal(options.env, options.temporalBin) === null) {
    await installTemporal(options.env, options.log, options.signal);
  }
}

async function prepareTemporal(target: TemporalTarget): Promise<void> {
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect(target.connectionOptions);
  try {
    await ensureSearchAttributes(connection, target.namespace);
  } finally {
    await connection.close();
  }
}

/** Registers this process as a user of the stack and brings up what is missing. */
async function joinStack(options: StackOptions, plan: StackPlan): Promise<{ record: StackRecord; user: string }> {
  prepareHome(options.home);
  const { home, log, signal } = options;
  return withLock(join(home, 'lock'), { what: `the stack in ${home}`, log, signal }, async () => {
    const user = registerUser(options.home);
    try {
      return { record: await bringUp({ ...options, wanted: plan.embedded, keepPorts: false }), user };
    } catch (error) {
      removeUser(user);
      if (liveUsers(options.home).length === 0) await bringDown(options.home, options.log);
      throw error;
    }
  });
}

function describeStack(options: StackOptions, plan: StackPlan, record: StackRecord | null): Omit<Stack, 'release'> {
  const temporalAddress = plan.external?.address ?? `127.0.0.1:${portOf(record?.temporal)}`;
  return {
    temporalAddress,
    namespace: plan.external?.namespace ?? 'default',
    connectionOptions: plan.external?.connectionOptions ?? { address: temporalAddress },
    databaseUrl: plan.databaseUrl ?? embeddedDatabaseUrl(options.home, portOf(record?.postgres)),
    uiUrl: plan.embedded.temporal ? `http://127.0.0.1:${record?.temporal?.uiPort ?? 0}` : null,
    embedded: plan.embedded,
  };
}

function portOf(service: { port: number } | null | undefined): number {
  if (service === null || service === undefined) throw new Error('the stack came up without a record of a server');
  return service.port;
}

function releaseOnce(options: StackOptions, user: string | null, supervisor: Supervisor | null): () => Promise<void> {
  let released: Promise<void> | null = null;
  return () => {
    released ??= (async () => {
      await supervisor?.stop();
      if (user !== null) await leave(options, user);
    })();
    return released;
  };
}

async function leave(options: StackOptions, user: string): Promise<void> {
  await locked(options, async () => {
    removeUser(user);
    if (liveUsers(options.home).length === 0) await bringDown(options.home, options.log);
  });
}

/**
 * Stops the embedded servers of a home folder that nobody uses any more (what a killed `assay` left behind).
 * @returns false when a live process still uses them; they keep running then.
 */
export async function stopStack(options: Pick<StackOptions, 'home' | 'log'>): Promise<boolean> {
  if (!existsSync(options.home)) return true;
  return locked(options, async () => {
    if (liveUsers(options.home).length > 0) return false;
    await bringDown(options.home, options.log);
    return true;
  });
}

/** What the record says, without starting anything: for `doctor`. */
export function recordedStack(home: string): StackRecord {
  return readStackRecord(home, () => undefined);
}

async function locked<T>(options: Pick<StackOptions, 'home' | 'log'>, work: () => Promise<T>): Promise<T> {
  return withLock(join(options.home, 'lock'), { what: `the stack in ${options.home}`, log: options.log }, work);
}
