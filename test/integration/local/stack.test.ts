import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, signalProcess, type ProcessIdentity } from '../../../src/local/process-identity.ts';
import { ensureSearchAttributes, searchAttributeState } from '../../../src/local/search-attributes.ts';
import { ensureStack, recordedStack, stopStack, type StackOptions } from '../../../src/local/stack.ts';

/** `INDEXED_VALUE_TYPE_INT` */
const INT = 3 as never;

let folder: string;
let home: string;
let holders: ChildProcess[];
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-stack-'));
  chmodSync(folder, 0o755);
  home = join(folder, '.assay');
  holders = [];
  lines = [];
});

afterEach(async () => {
  for (const holder of holders) holder.kill('SIGKILL');
  const before = processes();
  expect(await stopStack({ home, log: () => undefined })).toBe(true);
  rmSync(folder, { recursive: true, force: true });
  expect(before.filter(isAlive)).toEqual([]);
});

function options(change: Partial<StackOptions> = {}): StackOptions {
  const { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN } = process.env;
  return {
    home,
    log: (line) => lines.push(line),
    env: { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN },
    ...change,
  };
}

function processes(): ProcessIdentity[] {
  const { temporal, postgres } = recordedStack(home);
  return [temporal?.process, postgres?.process].flatMap((identity) => identity ?? []);
}

interface Holder {
  child: ChildProcess;
  log: string[];
  databaseUrl: string;
}

async function startHolder(): Promise<Holder> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  holders.push(child);
  const log: string[] = [];
  const output = createInterface({ input: child.stdout! });
  const databaseUrl = await new Promise<string>((resolve, reject) => {
    output.on('line', (line) => {
      const message = JSON.parse(line) as { log?: string; ready?: { databaseUrl: string } };
      if (message.log !== undefined) log.push(message.log);
      if (message.ready !== undefined) resolve(message.ready.databaseUrl);
    });
    child.once('exit', (code) => reject(new Error(`holder ended with ${code}`)));
  });
  return { child, log, databaseUrl };
}

async function endHolder(holder: Holder): Promise<void> {
  const exit = once(holder.child, 'exit');
  holder.child.kill('SIGTERM');
  expect((await exit)[0]).toBe(0);
}

async function eventually<T>(look: () => T | null | Promise<T | null>, withinMs = 15_000): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${look.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('starts both, keeps data and ports over a stop, and leaves no process', async () => {
  const first = await ensureStack(options());
  expect(first.embedded).toEqual({ temporal: true, postgres: true });
  await query(first.databaseUrl, 'CREATE TABLE kept AS SELECT 7 AS value');
  const started = processes();
  expect(started).toHaveLength(2);
  await Promise.all([first.release(), first.release()]);
  expect(started.filter(isAlive)).toEqual([]);

  const second = await ensureStack(options());
  expect(second.temporalAddress).toBe(first.temporalAddress);
  expect(second.databaseUrl).toBe(first.databaseUrl);
  expect(await query(second.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  await second.release();
});

test('two processes that start at once share one stack; the last one out stops it', async () => {
  const [one, two] = await Promise.all([startHolder(), startHolder()]);
  expect(one.databaseUrl).toBe(two.databaseUrl);
  const shared = processes();
  await endHolder(one);
  expect(shared.filter(isAlive)).toHaveLength(2);
  await endHolder(two);
  expect(shared.filter(isAlive)).toEqual([]);
});

test('R13: after kill -9 of its only user the next one goes on with the running servers', async () => {
  const killed = await startHolder();
  const before = processes();
  const exit = once(killed.child, 'exit');
  killed.child.kill('SIGKILL');
  await exit;
  expect(before.filter(isAlive)).toHaveLength(2);
  const stack = await ensureStack(options());
  expect(processes()).toEqual(before);
  await stack.release();
  expect(before.filter(isAlive)).toEqual([]);
});

test('orphans nobody recorded are recognised by their data', async () => {
  const killed = await startHolder();
  const before = processes();
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const record = JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8'));
  record.temporal.process = null;
  record.postgres.process = null;
  writeFileSync(join(home, 'stack.json'), JSON.stringify(record));
  const stack = await ensureStack(options());
  expect(processes()).toEqual(before);
  await stack.release();
});

test('a torn record is said, and the old processes do not stay beside new ones', async () => {
  const killed = await startHolder();
  const before = processes();
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  writeFileSync(join(home, 'stack.json'), '{"version": 1, "temp');
  const stack = await ensureStack(options());
  expect(lines.join('\n')).toMatch(/not readable as a stack record/);
  await stack.release();
  expect(before.filter(isAlive)).toEqual([]);
});

for (const server of ['temporal', 'postgres'] as const) {
  test(`kill -9 of ${server}: started again on the same port and data, by exactly one of two users`, async () => {
    const [one, two] = [await startHolder(), await startHolder()];
    await query(one.databaseUrl, 'CREATE TABLE kept AS SELECT 7 AS value');
    const before = recordedStack(home)[server]!;
    signalProcess(before.process!, 'SIGKILL');
    const began = Date.now();
    const after = await eventually(() => {
      const now = recordedStack(home)[server];
      return now?.process && now.process.pid !== before.process!.pid ? now : null;
    });
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(after.port).toBe(before.port);
    expect(await query(one.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    const connection = await Connection.connect({ address: `127.0.0.1:${recordedStack(home).temporal!.port}` });
    expect((await searchAttributeState(connection, 'default')).missing).toEqual([]);
    await connection.close();
    const restarts = [...one.log, ...two.log].filter((line) => line.includes('ended unexpectedly'));
    expect(restarts).toHaveLength(1);
    await endHolder(one);
    await endHolder(two);
  });
}

test('kill -9 of everything: the next start goes on with the data', async () => {
  const killed = await startHolder();
  await query(killed.databaseUrl, 'CREATE TABLE kept AS SELECT 7 AS value');
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  for (const identity of processes()) signalProcess(identity, 'SIGKILL');
  const stack = await ensureStack(options());
  expect(stack.databaseUrl).toBe(killed.databaseUrl);
  expect(await query(stack.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  await stack.release();
});

test('a stale lock, user and postmaster.pid of a dead process are taken over', async () => {
  const first = await ensureStack(options());
  await first.release();
  const dead = spawn(process.execPath, ['-e', '0']);
  await once(dead, 'exit');
  const gone = { pid: dead.pid!, startedAt: 'boot:1' };
  writeFileSync(join(home, 'lock'), JSON.stringify({ ...gone, key: 'x' }));
  writeFileSync(join(home, 'users', `${gone.pid}-x`), gone.startedAt);
  // The pid of a live process that is no Postgres: Postgres by itself would refuse to start.
  const data = recordedStack(home).postgres!.dataDir;
  writeFileSync(join(data, 'postmaster.pid'), `${process.pid}\n${data}\n1\n5432\n\n127.0.0.1\n`);
  const second = await ensureStack(options());
  const started = processes();
  await second.release();
  expect(started.filter(isAlive)).toEqual([]);
});

test('a remembered port that somebody else took is replaced; a required one is refused', async () => {
  const first = await ensureStack(options());
  await first.release();
  const port = recordedStack(home).postgres!.port;
  const squatter = createServer().listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  try {
    const second = await ensureStack(options());
    expect(recordedStack(home).postgres!.port).not.toBe(port);
    await second.release();
    const refused = ensureStack(options({ ports: { postgres: port } }));
    await expect(refused).rejects.toMatchObject({ name: 'UserError', exitCode: 4, message: /is taken/ });
    expect(processes().filter(isAlive)).toEqual([]);
  } finally {
    squatter.close();
  }
});

test('a folder that cannot be used is a clear error with exit code 4', async () => {
  writeFileSync(home, 'a file');
  await expect(ensureStack(options())).rejects.toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: expect.stringContaining(home),
    hint: expect.stringMatching(/ASSAY_HOME/),
  });
  rmSync(home);
});

test.runIf(process.getuid?.() === 0)(
  'root with a folder no other user can enter: data goes elsewhere, and it is said',
  async () => {
    chmodSync(folder, 0o700);
    const stack = await ensureStack(options());
    const data = recordedStack(home).postgres!.dataDir;
    try {
      expect(data.startsWith('/var/lib/assay/')).toBe(true);
      expect(lines.join('\n')).toContain(data);
      expect(await query(stack.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await stack.release();
      rmSync(join(data, '..'), { recursive: true, force: true });
    }
  },
);

test('an embedded server gets nothing of the environment but paths', async () => {
  const stack = await ensureStack(options({ env: { ...options().env, OPENAI_API_KEY: 'sk-canary-1234' } }));
  if (process.platform === 'linux') {
    for (const { pid } of processes()) {
      const seen = readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      expect(seen).toContain('PATH=');
      expect(seen).not.toContain('canary');
    }
  }
  const password = readFileSync(join(home, 'postgres-password'), 'utf8').trim();
  expect(password.length).toBeGreaterThan(20);
  expect(readFileSync(join(home, 'stack.json'), 'utf8')).not.toContain(password);
  expect(lines.join('\n')).not.toContain(password);
  await stack.release();
});

test('an existing Temporal and Postgres are used by their addresses; nothing is started or stopped', async () => {
  const own = await ensureStack(options());
  const second = await ensureStack(
    options({ home: join(folder, 'unused'), temporalAddress: own.temporalAddress, databaseUrl: own.databaseUrl }),
  );
  expect(second.embedded).toEqual({ temporal: false, postgres: false });
  expect(existsSync(join(folder, 'unused'))).toBe(false);
  await second.release();
  expect(processes().filter(isAlive)).toHaveLength(2);
  await own.release();
});

test('search attributes are created once; one of another type is reported', async () => {
  const stack = await ensureStack(options());
  const connection = await Connection.connect({ address: stack.temporalAddress });
  await ensureSearchAttributes(connection, 'default');
  await connection.workflowService.registerNamespace({
    namespace: 'other',
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const add = (): Promise<unknown> =>
    connection.operatorService.addSearchAttributes({ namespace: 'other', searchAttributes: { AssayKind: INT } });
  await eventually(() =>
    add().then(
      () => true,
      () => null,
    ),
  );
  await expect(ensureSearchAttributes(connection, 'other')).rejects.toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: /AssayKind is Int; Keyword is needed/,
  });
  await connection.close();
  await stack.release();
});
