import { connect as connectTo, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../../src/client.ts';
import { openWorkplace, startDetached, type Workplace } from './assay.ts';

/** Stands between commands and Postgres, and can be shut as a server that restarts, or break a connection. */
class Gate {
  url = '';
  /** The next connection that sends this text is cut before Postgres sees it. */
  cutAt: string | null = null;
  private readonly sockets = new Set<Socket>();
  private readonly target: URL;
  private server: Server | null = null;
  private port = 0;

  constructor(databaseUrl: string) {
    this.target = new URL(databaseUrl);
  }

  async open(): Promise<void> {
    const server = createServer((client) => this.pass(client));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    this.url = url.href;
  }

  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private pass(client: Socket): void {
    const server = connectTo(Number(this.target.port), this.target.hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    server.on('data', (piece) => client.write(piece));
    client.on('data', (piece) => {
      if (this.cutAt !== null && piece.includes(this.cutAt)) {
        this.cutAt = null;
        client.destroy();
      } else server.write(piece);
    });
  }
}

/** Every command waits for a Postgres that is being restarted, and says so; what it wrote is never written twice. */
describe('R14: commands while Postgres is away', () => {
  let place: Workplace;
  let gate: Gate;

  beforeAll(async () => {
    place = await openWorkplace({ cases: ['one', 'two'], trials: 1 });
    gate = new Gate(place.databaseUrl);
    await gate.open();
    expect((await place.run('run', 'suite.yaml', '--id', 'before')).code).toBe(0);
    expect((await place.run('run', 'suite.yaml', '--id', 'after')).code).toBe(0);
    await startDetached(place, '--id', 'going');
    place.env['DATABASE_URL'] = gate.url;
  });
  afterAll(async () => {
    await gate.shut();
    await place.close();
  });

  /** Runs a command; Postgres comes back as soon as the command says that it waits for it. */
  async function runWhileAway(args: string[]): Promise<{ code: number; out: string; err: string }> {
    const ran = { out: '', err: '' };
    let back: Promise<void> | null = null;
    await gate.shut();
    const code = await main(['node', 'assay', ...args], {
      env: place.env,
      cwd: place.folder,
      isTty: false,
      stdout: (piece) => void (ran.out += piece),
      stderr: (piece) => {
        ran.err += piece;
        if (/waiting for Postgres, at most 30 s/.test(piece)) back ??= gate.open();
      },
    });
    // A command that did not wait leaves it shut.
    await (back ?? gate.open());
    return { code, ...ran };
  }

  test.each([
    ['status', ['status', 'before'], 'before  completed'],
    ['report', ['report', 'before'], 'PASSED'],
    ['compare', ['compare', 'before', 'after'], 'before'],
    ['sql', ['sql', 'select 40 + 2 as answer'], '42'],
    ['resume', ['resume', 'before'], 'PASSED'],
    ['retry', ['retry', 'before'], 'PASSED'],
    ['pause', ['pause', 'going'], 'is paused'],
    ['unpause', ['unpause', 'going'], 'goes on'],
    ['cancel', ['cancel', 'before'], 'is completed already'],
    ['run', ['run', 'suite.yaml', '--id', 'new'], 'PASSED'],
  ])('%s waits, says so once, and goes on', async (_, args, wanted) => {
    const ran = await runWhileAway(args);
    expect(ran.out, ran.err).toContain(wanted);
    expect(ran.code).toBe(0);
    expect(ran.err.match(/waiting for Postgres/g)).toHaveLength(1);
  });

  test('a read whose connection breaks is asked again', async () => {
    gate.cutAt = 'from "evaluation"';
    const ran = await place.run('status', 'before');
    expect(gate.cutAt).toBeNull();
    expect(ran.out, ran.err).toContain('before  completed');
    expect(ran.code).toBe(0);
  });

  test('a write whose connection breaks may be stored: it is not sent again, and the same command goes on', async () => {
    gate.cutAt = 'insert into "baseline"';
    const ran = await place.run('baseline', 'set', 'before');
    expect(gate.cutAt).toBeNull();
    expect(ran.code).toBe(4);
    expect(ran.err).toContain('Postgres does not answer');
    expect(ran.err).toContain('the same command goes on');
    expect((await place.run('baseline', 'set', 'before')).code).toBe(0);
  });
});
