import type { Env } from './env.ts';
import { findInstalledTemporal } from './find-temporal.ts';
import { installTemporal } from './install-temporal.ts';
import { choosePort } from './ports.ts';
import { placePostgres } from './postgres-place.ts';
import { findPostmaster, probePostgres, startPostgres, stopPostgres } from './postgres-server.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import {
  readStackRecord,
  writeStackRecord,
  type PostgresRecord,
  type StackRecord,
  type TemporalRecord,
} from './stack-record.ts';
import { findTemporalServer, probeTemporal, startTemporal, stopTemporal, temporalDataFile } from './temporal-server.ts';
import { systemClock } from './wait.ts';

export interface BringUpOptions {
  home: string;
  wanted: { temporal: boolean; postgres: boolean };
  temporalBin?: string;
  ports?: { temporal?: number; ui?: number; postgres?: number };
  /** A restart under live clients: the recorded ports or none, because clients know no others. */
  keepPorts: boolean;
  log: (line: string) => void;
  env: Env;
  /** Gives the start up when it is aborted: what was being started is stopped, and its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** A running server that gives no answer for this long, in milliseconds, is hung: it is ended and started again. */
const HUNG_AFTER_MS = 30_000;

/** Makes the wanted servers run: adopts those that do, starts the others. Call it under the stack's lock. */
export async function bringUp(options: BringUpOptions): Promise<StackRecord> {
  let record = readStackRecord(options.home, options.log);
  const save = (change: Partial<StackRecord>): void => {
    record = { ...record, ...change };
    writeStackRecord(options.home, record);
  };
  // Side by side: both take most of their start waiting.
  const results = await Promise.allSettled([
    options.wanted.postgres ? bringUpPostgres(options, record.postgres, (postgres) => save({ postgres })) : null,
    options.wanted.temporal ? bringUpTemporal(options, record.temporal, (temporal) => save({ temporal })) : null,
  ]);
  // What a server said when it was stopped is no failure of its own.
  options.signal?.throwIfAborted();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return record;
}

/** Stops the recorded servers, and unrecorded ones on the same data. The record keeps their ports for the next start. */
export async function bringDown(home: string, log: (line: string) => void): Promise<void> {
  const record = readStackRecord(home, log);
  const temporal = livingTemporal(home, record.temporal);
  const postgres = livingPostgres(record.postgres);
  await Promise.all([
    temporal === null ? null : stopTemporal(temporal),
    postgres === null ? null : stopPostgres(postgres.identity, postgres.dataDir),
  ]);
  writeStackRecord(home, {
    ...record,
    temporal: record.temporal && { ...record.temporal, process: null },
    postgres: record.postgres && { ...record.postgres, process: null },
  });
}

function livingTemporal(home: string, recorded: TemporalRecord | null) {
  if (recorded?.process && isAlive(recorded.process)) return recorded.process;
  return findTemporalServer(recorded?.dataFile ?? temporalDataFile(home));
}

function livingPostgres(recorded: PostgresRecord | null) {
  if (recorded === null) return null;
  const { process, port, dataDir } = recorded;
  if (process && isAlive(process)) return { identity: process, port, dataDir };
  const found = findPostmaster(dataDir);
  return found === null ? null : { ...found, dataDir };
}

async function bringUpPostgres(
  options: BringUpOptions,
  recorded: PostgresRecord | null,
  save: (record: PostgresRecord) => void,
): Promise<void> {
  const place = placePostgres(options.home, options.log);
  const dataDir = recorded?.dataDir ?? place.dataDir;
  const living =
    recorded?.process && isAlive(recorded.process)
      ? { identity: recorded.process, port: recorded.port }
      : findPostmaster(dataDir);
  if (living !== null) {
    if (await answersSoon(living.identity, () => probePostgres(options.home, living.port))) {
      save({ process: living.identity, port: living.port, dataDir, version: place.version });
      return;
    }
    await endHung('Postgres', living.identity, (identity) => stopPostgres(identity, dataDir), options.log);
  }
  const port = await pick(options, 'Postgres', options.ports?.postgres, recorded?.port, new Set());
  const draft = { process: null, port, dataDir, version: place.version };
  save(draft);
  const identity = await startPostgres(options.home, { ...place, dataDir }, port, options);
  save({ ...draft, process: identity });
}

async function bringUpTemporal(
  options: BringUpOptions,
  recorded: TemporalRecord | null,
  save: (record: TemporalRecord) => void,
): Promise<void> {
  const dataFile = recorded?.dataFile ?? temporalDataFile(options.home);
  const living = livingTemporal(options.home, recorded);
  if (living !== null) {
    const address = `127.0.0.1:${recorded?.port ?? 0}`;
    if (recorded !== null && (await answersSoon(living, () => probeTemporal({ address }, 'default')))) {
      save({ ...recorded, process: living });
      return;
    }
    await endHung('Temporal', living, stopTemporal, options.log);
  }
  const { home, log, env, signal } = options;
  const binary = findInstalledTemporal(env, options.temporalBin) ?? (await installTemporal(env, log, signal));
  const port = await pick(options, 'Temporal', options.ports?.temporal, recorded?.port, new Set());
  const uiPort = await pick(options, 'the Temporal UI', options.ports?.ui, recorded?.uiPort, new Set([port]));
  const draft = { process: null, port, uiPort, dataFile, binary };
  // Saved before the start too: if we are killed in between, the next one knows on which port the orphan listens.
  save(draft);
  const identity = await startTemporal({ home, binary, dataFile, port, uiPort, env, log, signal });
  save({ ...draft, process: identity });
}

/** Ends a server that does not answer; one that died while being asked needs nothing. */
async function endHung(
  what: string,
  identity: ProcessIdentity,
  stop: (identity: ProcessIdentity) => Promise<void>,
  log: (line: string) => void,
): Promise<void> {
  if (!isAlive(identity)) return;
  log(`the embedded ${what} runs but does not answer: starting it again`);
  await stop(identity);
}

async function pick(
  options: BringUpOptions,
  what: string,
  required: number | undefined,
  remembered: number | undefined,
  avoid: ReadonlySet<number>,
): Promise<number> {
  const fixed = options.keepPorts ? remembered : required;
  return choosePort({
    what,
    required: fixed ?? null,
    remembered: remembered ?? null,
    seed: `${options.home} ${what}`,
    avoid,
  });
}

async function answersSoon(identity: ProcessIdentity, probe: () => Promise<string | null>): Promise<boolean> {
  const begin = systemClock.now();
  while (isAlive(identity) && systemClock.now() - begin <= HUNG_AFTER_MS) {
    if ((await probe()) === null) return true;
    await systemClock.sleep(100);
  }
  return false;
}
