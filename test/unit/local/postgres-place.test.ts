import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPostgresBinaries, maySearch, mayEnter, serviceUser } from '../../../src/local/postgres-place.ts';

const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n';
const user = { name: 'postgres', uid: 101, gid: 104 };

test('user postgres when there is one, else nobody, else an error that says what to do', () => {
  expect(serviceUser(`${PASSWD}postgres:x:101:104::/var/lib/postgresql:/bin/bash\n`)).toEqual(user);
  expect(serviceUser(PASSWD)).toEqual({ name: 'nobody', uid: 65534, gid: 65534 });
  expect(() => serviceUser('root:x:0:0::/:/bin/sh\n')).toThrow(/neither/);
});

test('search permission: the first class that applies decides', () => {
  expect(maySearch({ uid: 0, gid: 0, mode: 0o755 }, user)).toBe(true);
  expect(maySearch({ uid: 0, gid: 0, mode: 0o700 }, user)).toBe(false);
  expect(maySearch({ uid: 0, gid: 104, mode: 0o710 }, user)).toBe(true);
  expect(maySearch({ uid: 0, gid: 104, mode: 0o701 }, user)).toBe(false);
  expect(maySearch({ uid: 101, gid: 0, mode: 0o077 }, user)).toBe(false);
});

test('a folder is entered only when all above it may be', () => {
  expect(mayEnter('/', user)).toBe(true);
});

test('the binaries of this platform are installed', () => {
  const { binDir, version } = findPostgresBinaries();
  expect(version).toMatch(/^\d+\./);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const name of ['postgres', 'initdb']) expect(existsSync(join(binDir, name + suffix))).toBe(true);
});
