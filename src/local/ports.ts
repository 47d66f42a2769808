import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { EXIT, UserError } from '../core/errors.ts';
import { hasCode } from './system-error.ts';

/**
 * Ports are taken from below the range the system gives to outgoing connections (32768 and up on Linux, 49152 on
 * macOS and Windows), so that a restarted server finds its port free.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;

/** True when a server can listen on this port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (hasCode(error, 'EADDRINUSE', 'EACCES')) resolve(false);
      else reject(error);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** True when something accepts connections there. */
export async function accepts(host: string, port: number, timeoutMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/** The order in which ports are tried for a folder: the same every time, so that addresses stay. */
export function* portCandidates(seed: string): Generator<number> {
  const start = createHash('sha256').update(seed).digest().readUInt32BE(0) % PORT_COUNT;
  for (let step = 0; step < PORT_COUNT; step += 1) yield FIRST_PORT + ((start + step) % PORT_COUNT);
}

function finder(port: number): string {
  return process.platform === 'win32' ? `netstat -ano | findstr :${port}` : `lsof -i :${port}`;
}

export interface PortChoice {
  /** What listens there, for messages: `Temporal`. */
  what: string;
  /** The port the user insists on; null = any. */
  required: number | null;
  /** The port used last time; null = none. */
  remembered: number | null;
  /** Decides the order of candidates. */
  seed: string;
  /** Ports already given away. */
  avoid: ReadonlySet<number>;
}

/**
 * A free port: the required one, else the remembered one, else the first free candidate.
 * @throws UserError exit code 4, when the required port is taken or no port is free.
 */
export async function choosePort(choice: PortChoice): Promise<number> {
  if (choice.required !== null) {
    if (await isPortFree(choice.required)) return choice.required;
    throw new UserError(`Port ${choice.required} for ${choice.what} is taken by another process.`, {
      exitCode: EXIT.infrastructure,
      hint: `End that process (find it with: ${finder(choice.required)}), or leave the port to Assay, which chooses a free one.`,
    });
  }
  if (choice.remembered !== null && !choice.avoid.has(choice.remembered) && (await isPortFree(choice.remembered))) {
    return choice.remembered;
  }
  for (const port of portCandidates(choice.seed)) {
    if (port !== choice.remembered && !choice.avoid.has(port) && (await isPortFree(port))) return port;
  }
  throw new UserError(
    `No free port for ${choice.what} between ${FIRST_PORT} and ${FIRST_PORT + PORT_COUNT - 1} on 127.0.0.1.`,
    { exitCode: EXIT.infrastructure, hint: 'End some servers on this machine.' },
  );
}
