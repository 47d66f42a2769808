import { resolve } from 'node:path';
import { UserError } from '../../core/errors.ts';
import type { ModuleAgentConfig } from '../../core/suite.ts';
import { loadModule } from './module-load.ts';
import { startModuleProcess } from './module-process.ts';
import { WorkerCrashError } from './worker-crash.ts';

/** Longest time a module may take to load here, milliseconds. */
const LOAD_MS = 15_000;

/**
 * Loads an agent module in a child process, as a trial would, and runs nothing of it but what stands outside its
 * functions. Null when it loads and exports the function; else why not.
 * @param env environment of the child
 */
export async function checkModule(
  config: ModuleAgentConfig,
  suiteRoot: string,
  env: Record<string, string | undefined>,
): Promise<string | null> {
  const path = resolve(suiteRoot, config.path);
  const child = startModuleProcess({ env });
  const late = AbortSignal.timeout(LOAD_MS);
  try {
    await loadModule(child, { path, exportName: config.export ?? 'default' }, late);
    return null;
  } catch (error) {
    if (late.aborted) return `the agent module ${path} did not load within ${LOAD_MS / 1000} s`;
    if (error instanceof UserError) return error.message;
    if (error instanceof WorkerCrashError) return `the agent module ${path} cannot be loaded: ${error.message}`;
    throw error;
  } finally {
    await child.kill();
  }
}
