import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { killTree } from '../module/kill-tree.ts';
import { KILL_MARKED, killMarked, MARK } from './kill-marked.ts';

/** How a program ended by itself, or why it was ended. */
export type ProcessEnd =
  | { type: 'exited'; code: number }
  | { type: 'signal'; signal: string }
  | { type: 'too_much'; bytes: number }
  | { type: 'not_started'; message: string };

/** One running program that speaks lines. */
export interface CommandProcess {
  readonly pid: number | undefined;
  /** Writes one line to its standard input; lost when it reads no more. */
  write(text: string): void;
  /** Ends its standard input. */
  endInput(): void;
  /** The next line of its standard output; null once it has ended and all lines were read. */
  nextLine(): Promise<string | null>;
  /** The end of its standard error so far, at most 32 KiB. */
  stderr(): string;
  /** Settles once it has ended and its output is read. */
  readonly ended: Promise<ProcessEnd>;
  /** Kills it and everything it started; other than on Linux, what stayed in its group. Settles when it is gone. */
  kill(): Promise<void>;
}

export interface CommandProcessOptions {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Most bytes of standard output; more ends it. */
  maxBytes: number;
}

const STDERR_BYTES = 32 * 1024;

/**
 * Runs the program in place of the shell, in its group, beside a watcher that waits at descriptor 3. When this process
 * dies, however it does, that pipe ends and the watcher kills the group, and what left it with the mark (`$0`) in its
 * environment: no program outlives its worker. The watcher has no mark itself.
 */
const WATCHED = `(
  exec <&- >/dev/null 2>&1
  read -r _ <&3
  ${KILL_MARKED}
  kill -9 -$$
) &
export ${MARK}="$0"
exec "$@" 3<&-`;

/** Starts a program in a process group of its own; Ctrl-C reaches only this process. */
export function startCommandProcess(options: CommandProcessOptions): CommandProcess {
  const mark = randomUUID();
  const child = launch(options, mark);
  const lines = createLines();
  let bytes = 0;
  let tail = Buffer.alloc(0);
  let tooMuch = false;
  const kill = (): void => {
    if (child.pid !== undefined) killTree(child.pid);
  };
  const decoder = new StringDecoder('utf8');
  const stdout = child.stdout as Readable;
  stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (tooMuch) return;
    if (bytes <= options.maxBytes) lines.push(decoder.write(chunk));
    else {
      tooMuch = true;
      kill();
    }
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_BYTES);
  });
  // What reads no more has ended or will; `ended` says how.
  child.stdin?.on('error', () => undefined);
  const ended = endOf(child, kill).then((end): ProcessEnd => {
    // A line that was cut is none.
    lines.end(tooMuch ? null : decoder.end());
    return tooMuch ? { type: 'too_much', bytes: options.maxBytes } : end;
  });
  const swept = ended.then(() => killMarked(mark));
  // Told to who asks by `kill`.
  swept.catch(() => undefined);
  return {
    pid: child.pid,
    write: (text) => void child.stdin?.write(`${text}\n`),
    endInput: () => void child.stdin?.end(),
    nextLine: lines.next,
    stderr: () => tail.toString('utf8').replace(/^\uFFFD+/, ''),
    ended,
    async kill() {
      kill();
      await ended;
      await swept;
    },
  };
}

function launch({ program, args, cwd, env }: CommandProcessOptions, mark: string): ChildProcess {
  if (process.platform === 'win32') {
    return spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
  }
  return spawn('/bin/sh', ['-c', WATCHED, mark, program, ...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Milliseconds for output that is still on its way when the program has ended. */
const LAST_OUTPUT_MS = 200;

function endOf(child: ChildProcess, kill: () => void): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    let end: ProcessEnd = { type: 'exited', code: 0 };
    let settled = false;
    const settle = (): void => {
      if (settled) return;
      settled = true;
      (child.stdio[3] as Writable | null | undefined)?.destroy();
      // What it left running, the watcher too, ends with it.
      kill();
      resolve(end);
    };
    child.once('exit', (code, signal) => {
      end = signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'signal', signal };
      // Something it started may hold the pipes for ever.
      setTimeout(settle, LAST_OUTPUT_MS);
    });
    // The pipes end with the last process that holds them, the watcher's copies were closed at its start.
    child.once('close', settle);
    Promise.all([ended(child.stdout), ended(child.stderr)]).then(
      () => (child.exitCode !== null || child.signalCode !== null ? settle() : child.once('exit', settle)),
      () => undefined,
    );
    child.once('error', (error) => {
      end = { type: 'not_started', message: error.message };
      settle();
    });
  });
}

function ended(stream: Readable | null): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null || stream.readableEnded) resolve();
    else stream.once('end', resolve);
  });
}

/** Cuts text into lines and hands them out one by one. */
function createLines(): { push(text: string): void; end(text: string | null): void; next(): Promise<string | null> } {
  // Read by index, without blank lines: taking the first of a million entries away moves all others.
  let ready: string[] = [];
  let at = 0;
  // Parts of the line that is not ended yet, joined once: a long line is not copied for every chunk.
  let pending: string[] = [];
  let over = false;
  let waiter: (() => void) | null = null;
  const wake = (): void => {
    waiter?.();
    waiter = null;
  };
  const push = (text: string): void => {
    const [first = '', ...others] = text.split('\n');
    pending.push(first);
    const last = others.pop();
    if (last === undefined) return;
    for (const line of [pending.join(''), ...others]) if (line.trim() !== '') ready.push(line);
    pending = [last];
    wake();
  };
  return {
    push,
    end(text) {
      if (text !== null) push(`${text}\n`);
      over = true;
      wake();
    },
    async next() {
      for (;;) {
        const line = ready[at];
        if (line !== undefined) {
          at += 1;
          return line;
        }
        ready = [];
        at = 0;
        if (over) return null;
        await new Promise<void>((resolve) => {
          waiter = resolve;
        });
      }
    },
  };
}
