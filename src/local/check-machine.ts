import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail, ok, warn, type Check } from './check.ts';
import type { Env } from './env.ts';
import { cachedTemporal, findInstalledTemporal, findOnPath } from './find-temporal.ts';
import { findPostgresBinaries } from './postgres-place.ts';

/** Lowest Node version the dependencies run on (package.json `engines`). */
const NODE_MINIMUM = [22, 12] as const;

/** @param version as in `process.versions.node` */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MINIMUM[0] || (major === NODE_MINIMUM[0] && minor >= NODE_MINIMUM[1]);
  if (enough) return ok('Node', version);
  const wanted = NODE_MINIMUM.join('.');
  return fail(
    'Node',
    `${version}; ${wanted} or newer is needed`,
    'Install Node 24 (https://nodejs.org), or: npm i node@24',
  );
}

/** Can the folder of the embedded stack be written, and is there room? It need not exist yet. */
export function checkFolder(home: string): Check {
  let nearest = home;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
  } catch {
    // accessSync answers by throwing.
    return fail('Folder', `${home} cannot be written`, 'Make it writable, or choose another one with ASSAY_HOME.');
  }
  return checkSpace(home, freeMegabytes(nearest));
}

/** A new stack takes about 100 MB; 100,000 trials with trajectories about a gigabyte. */
export function checkSpace(home: string, megabytes: number): Check {
  const detail = `${home} is writable, ${Math.round(megabytes)} MB free`;
  if (megabytes < 200) return fail('Folder', detail, 'Free at least 200 MB, or choose another folder with ASSAY_HOME.');
  return megabytes < 2000
    ? warn('Folder', detail, 'Enough to start; large evaluations need more.')
    : ok('Folder', detail);
}

function freeMegabytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return (bavail * bsize) / 1_000_000;
}

/** Where an embedded Temporal would come from. */
export function checkTemporalBinary(env: Env): Check {
  const name = 'Temporal CLI';
  const found = findInstalledTemporal(env);
  if (found !== null) return ok(name, found);
  const go = findOnPath('go', env);
  const hint = 'Install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS.';
  return go === null
    ? warn(name, `not on this machine; the first run downloads it into ${dirname(cachedTemporal(env))}`, hint)
    : warn(name, `not on this machine; the first run downloads it, or builds it with ${go} (3 to 10 minutes)`, hint);
}

/** Are there Postgres binaries for this platform? */
export function checkPostgresBinaries(): Check {
  const { binDir, version } = findPostgresBinaries();
  return ok('Postgres binaries', `${version} in ${binDir}`);
}
