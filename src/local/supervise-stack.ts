import { join } from 'node:path';
import type { Env } from './env.ts';
import { withLock } from './lock.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { createRestartNotes, type RestartNotes } from './restart-notes.ts';
import { readStackRecord, type StackRecord } from './stack-record.ts';
import { bringUp } from './stack-services.ts';

export interface SuperviseOptions {
  home: string;
  temporalBin?: string;
  log: (line: string) => void;
  env: Env;
}

export interface Supervisor {
  /** Ends the watch; a restart under way is finished first. */
  stop(): Promise<void>;
}

/** How often the processes are looked at, in milliseconds. Elsewhere than on Linux each look runs `ps`. */
const INTERVAL_MS = process.platform === 'linux' ? 250 : 1000;
/** Pause after failed restarts, in milliseconds: doubled each time up to this. */
const LONGEST_PAUSE_MS = 10_000;

/**
 * Watches the embedded servers while this process uses them and restarts the one that dies, on the same port and data,
 * so that clients and workers reconnect. With several users exactly one restarts: the others see the new process.
 */
export function superviseStack(
  options: SuperviseOptions,
  wanted: { temporal: boolean; postgres: boolean },
): Supervisor {
  let stopped = false;
  let pauseMs = INTERVAL_MS;
  const notes = createRestartNotes(options.log, () => performance.now());
  let timer: NodeJS.Timeout;
  let round: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    try {
      await restartDead(options, wanted, () => stopped, notes);
      pauseMs = INTERVAL_MS;
    } catch (error) {
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      notes.failed(error);
    }
    if (!stopped) schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      round = look();
    }, pauseMs);
    // The watch alone keeps no process alive.
    timer.unref();
  };
  schedule();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}

async function restartDead(
  options: SuperviseOptions,
  wanted: { temporal: boolean; postgres: boolean },
  stopped: () => boolean,
  notes: RestartNotes,
): Promise<void> {
  if (deadServers(options, wanted).length === 0) return notes.running();
  const lock = { what: `the stack in ${options.home}`, log: options.log };
  await withLock(join(options.home, 'lock'), lock, async () => {
    // Another user may have restarted it while we waited for the lock.
    const dead = deadServers(options, wanted);
    if (dead.length === 0 || stopped()) return;
    notes.died(dead.join(' and '));
    await bringUp({ ...options, wanted, keepPorts: true });
    notes.running();
  });
}

function deadServers(options: SuperviseOptions, wanted: { temporal: boolean; postgres: boolean }): string[] {
  const record: StackRecord = readStackRecord(options.home, options.log);
  const dead = (identity: ProcessIdentity | null | undefined): boolean => !identity || !isAlive(identity);
  return [
    ...(wanted.temporal && dead(record.temporal?.process) ? ['Temporal'] : []),
    ...(wanted.postgres && dead(record.postgres?.process) ? ['Postgres'] : []),
  ];
}
