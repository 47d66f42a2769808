import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../src/db/migrate.ts';
import { ensureStack, stopStack, type Stack } from '../src/local/stack.ts';
import { createTemplate } from './fixtures/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `127.0.0.1:PORT` of the shared embedded Temporal; its namespace is `default`. */
    temporalAddress: string;
    /** Administrator's address of the shared embedded Postgres. Tests use databases of their own: createTestDatabase(). */
    databaseUrl: string;
    /** Home folder of the shared stack. */
    assayHome: string;
    /** Name of the migrated database that createTestDatabase() clones. */
    templateDatabase: string;
  }
}

interface Services {
  stack: Stack;
  home: string;
  template: string;
}

/** Of the one stack of a vitest run. On globalThis: each project loads this file anew. */
interface Shared {
  starting: Promise<Services>;
  users: number;
}
const KEY = Symbol.for('assay.test.services');
const holder = globalThis as { [KEY]?: Shared };

const PREFIX = 'assay-test-';
const SWEEP_AFTER_MS = 3_600_000;

/** vitest globalSetup: one Temporal and one Postgres for all projects of the run, stopped when the last one ends. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (holder[KEY] ??= { starting: start(), users: 0 });
  shared.users += 1;
  const services = await shared.starting;
  project.provide('temporalAddress', services.stack.temporalAddress);
  project.provide('databaseUrl', services.stack.databaseUrl);
  project.provide('assayHome', services.home);
  project.provide('templateDatabase', services.template);
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) await stop(services);
  };
}

async function start(): Promise<Services> {
  await sweep();
  const home = mkdtempSync(join(tmpdir(), PREFIX));
  // As root Postgres runs as another user, who must be able to enter.
  chmodSync(home, 0o755);
  let stack: Stack | undefined;
  try {
    stack = await ensureStack({
      home,
      log: (line) => console.log(`[services] ${line}`),
      env: environment(),
      supervise: false,
    });
    await migrate(stack.databaseUrl);
    return { stack, home, template: await createTemplate(stack.databaseUrl) };
  } catch (error) {
    await stack?.release();
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

async function stop(services: Services): Promise<void> {
  await services.stack.release();
  rmSync(services.home, { recursive: true, force: true });
}

/**
 * What earlier runs left because they were killed. Homes with a live user are let be, and young ones: another run may
 * be about to use them.
 */
async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const home = join(tmpdir(), name);
    if (Date.now() - statSync(home).mtimeMs < SWEEP_AFTER_MS) continue;
    if (await stopStack({ home, log: () => undefined })) rmSync(home, { recursive: true, force: true });
  }
}

/** Always the embedded stack, whatever the developer's own TEMPORAL_ADDRESS and DATABASE_URL are. */
function environment(): Record<string, string | undefined> {
  const { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN } = process.env;
  return { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN };
}
