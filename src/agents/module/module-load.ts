import { UserError } from '../../core/errors.ts';
import type { ModuleProcess } from './module-process.ts';
import type { ModulePlace } from './module-protocol.ts';
import { abortError } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';

/** Longest time a module may take to load, milliseconds. */
const LOAD_TIMEOUT_MS = 60_000;

/**
 * Makes a process load a module; at once when it has done so before. The time this takes, a new process included, is
 * no part of a trial: its clock starts afterwards.
 * @throws {UserError} when the module cannot be loaded, or not in 60 s. {@link WorkerCrashError} when the process dies,
 * `AbortError` when the signal is aborted.
 */
export async function loadModule(child: ModuleProcess, place: ModulePlace, signal: AbortSignal): Promise<void> {
  const cap = startTimeCap(signal, LOAD_TIMEOUT_MS);
  const failure = new Promise<string | null>((resolve) => {
    child.listen((message) => {
      if (message.type === 'loaded') resolve(null);
      if (message.type !== 'failed') return;
      const { name, message: text, at } = message.error;
      resolve(`${name}: ${text}${at === null ? '' : ` (${at})`}`);
    });
    cap.signal.addEventListener('abort', () => resolve(`it did not load within ${LOAD_TIMEOUT_MS / 1000} s`));
  });
  child.send({ type: 'load', place });
  try {
    const ended = await Promise.race([failure, child.ended]);
    if (signal.aborted) throw abortError(signal);
    if (ended instanceof Error) throw ended;
    if (ended === null) return;
    throw new UserError(`the agent module ${place.path} cannot be loaded: ${ended}`, {
      hint: 'Expected a .ts, .mts, .js or .mjs file that exports a function (input, context) => answer.',
    });
  } finally {
    cap.dispose();
  }
}
