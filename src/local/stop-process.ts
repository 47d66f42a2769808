import { isAlive, signalProcess, type ProcessIdentity } from './process-identity.ts';
import { systemClock, type Clock } from './wait.ts';

/**
 * Asks a process to end and waits; one that is still there after `graceMs` is killed. Returns when it is gone.
 * @throws Error when it is still there five seconds after SIGKILL (it hangs in the kernel).
 */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs: number,
  clock: Clock = systemClock,
): Promise<void> {
  signalProcess(identity, signal);
  if (await gone(identity, graceMs, clock)) return;
  signalProcess(identity, 'SIGKILL');
  if (await gone(identity, 5000, clock)) return;
  throw new Error(`process ${identity.pid} is still there after SIGKILL`);
}

async function gone(identity: ProcessIdentity, withinMs: number, clock: Clock): Promise<boolean> {
  const begin = clock.now();
  while (isAlive(identity)) {
    if (clock.now() - begin >= withinMs) return false;
    await clock.sleep(20);
  }
  return true;
}
