import { setPriority } from 'node:os';
import { findInstalledTemporal } from '../src/local/find-temporal.ts';
import { installTemporal } from '../src/local/install-temporal.ts';
import { installProductionServer } from '../test/stack/production-temporal.ts';

/**
 * Fetches or builds what a new machine lacks for the tests, beside those that do not need it: the Temporal CLI, then, with
 * `--production`, the production server of the stack tests. Tests that need one wait for it, and say what is wrong with it.
 */
const log = (line: string): void => console.log(`[servers] ${line}`);
// Builds of minutes: what runs beside them goes first.
setPriority(15);
try {
  if (findInstalledTemporal(process.env) === null) await installTemporal(process.env, log);
  if (process.argv.includes('--production')) await installProductionServer(log);
} catch (error) {
  // What to do about it is said where a test needs the server.
  log(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
