import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { codeFile } from '../../core/installed-package.ts';
import { killMarked, MARK } from '../command/kill-marked.ts';
import { killTree } from './kill-tree.ts';
import type { ChildMessage, Envelope, ParentMessage } from './module-protocol.ts';
import { WorkerCrashError } from './worker-crash.ts';

export interface ModuleProcessOptions {
  /** Heap of one child, megabytes; beyond it the child dies and its trial with it. Default 512. */
  maxMemoryMb?: number;
  /** Whole environment of the children. */
  env: Record<string, string | undefined>;
  /** Receives what the module prints. Default: dropped, but for the end that goes into crash messages. */
  log?: (text: string) => void;
}

/** A child process that runs modules. */
export interface ModuleProcess {
  readonly pid: number | undefined;
  /** Sends to the trial begun by the last `load`. */
  send(message: ParentMessage): void;
  /** Where messages go; null = nowhere. */
  listen(handler: ((message: ChildMessage) => void) | null): void;
  /** Resolves once the process has ended, with what to say of it. */
  readonly ended: Promise<WorkerCrashError>;
  alive(): boolean;
  /** Whether the process keeps its parent alive. */
  hold(busy: boolean): void;
  /** Kills the process and all it started; other than on Linux, what stayed in its group. Resolves when it is gone. */
  kill(): Promise<void>;
}

const DEFAULT_MEMORY_MB = 512;
const TAIL_LENGTH = 4_000;

const ENTRY = codeFile('src/agents/module/module-child');

function isEnvelope(sent: unknown): sent is Envelope<ChildMessage> {
  if (typeof sent !== 'object' || sent === null) return false;
  const { runId, message } = sent as { runId?: unknown; message?: unknown };
  return typeof runId === 'number' && typeof message === 'object' && message !== null && 'type' in message;
}

/** Starts a process that can run a module's trials, one at a time. */
export function startModuleProcess(options: ModuleProcessOptions): ModuleProcess {
  const memoryMb = options.maxMemoryMb ?? DEFAULT_MEMORY_MB;
  const mark = randomUUID();
  const child = spawn(process.execPath, [...nodeFlags(memoryMb), ENTRY, mark], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: killing it takes along what the module started, and Ctrl-C reaches only the parent.
    detached: process.platform !== 'win32',
    env: { ...options.env, [MARK]: mark },
  });
  const tail = collectOutput(child, options.log);
  let handler: ((message: ChildMessage) => void) | null = null;
  let runId = 0;
  let running = true;
  child.on('message', (sent) => {
    // The module shares the channel: what it sends there itself is not ours.
    if (isEnvelope(sent) && sent.runId === runId) handler?.(sent.message);
  });
  const ended = new Promise<WorkerCrashError>((resolve) => {
    const end = (code: number | null, signal: string | null, text: string): void => {
      if (!running) return;
      running = false;
      killGroup(child);
      resolve(crashOf(code, signal, text, memoryMb));
    };
    // `close` comes after the last output, but a grandchild may hold the pipes open for ever: `exit` bounds the wait.
    child.once('close', (code, signal) => end(code, signal, tail()));
    child.once('exit', (code, signal) => setTimeout(() => end(code, signal, tail()), 100));
    child.once('error', (error) => end(null, null, `${tail()}\n${error.message}`));
  });
  const swept = ended.then(() => killMarked(mark));
  // Told to who asks by `kill`.
  swept.catch(() => undefined);
  return {
    pid: child.pid,
    send(message) {
      // The channel may close at any moment; the `exit` that follows is what counts.
      if (message.type === 'load') runId += 1;
      if (child.connected) child.send({ runId, message } satisfies Envelope<ParentMessage>, () => {});
    },
    listen(next) {
      handler = next;
    },
    ended,
    alive: () => running && child.exitCode === null && child.signalCode === null && child.connected,
    hold: (busy) => holdParent(child, busy),
    async kill() {
      killGroup(child);
      await ended;
      await swept;
    },
  };
}

/** The process, its channel and its pipes each keep the parent's event loop going. */
function holdParent(child: ChildProcess, busy: boolean): void {
  const pipes = [child.stdout, child.stderr].filter((stream) => stream instanceof Socket);
  for (const handle of [child, child.channel, ...pipes]) {
    if (busy) handle?.ref();
    else handle?.unref();
  }
}

function nodeFlags(memoryMb: number): string[] {
  const strip = process.features.typescript ? [] : ['--experimental-strip-types'];
  return [`--max-old-space-size=${memoryMb}`, '--disable-warning=ExperimentalWarning', ...strip];
}

function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined) killTree(child.pid);
}

function collectOutput(child: ChildProcess, log: ((text: string) => void) | undefined): () => string {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_LENGTH);
      log?.(text);
    });
  }
  return () => tail.trim();
}

function crashOf(code: number | null, signal: string | null, output: string, memoryMb: number): WorkerCrashError {
  const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
  const memory = /heap out of memory|allocation failed/i.test(output) ? `: out of memory (${memoryMb} MB)` : '';
  const last = memory === '' && output !== '' ? `; it last printed: ${output.slice(-500)}` : '';
  return new WorkerCrashError(`the agent module's process ${how}${memory}${last}`, {
    exitCode: code,
    exitSignal: signal,
  });
}
