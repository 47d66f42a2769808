/**
 * Entry of the child process that runs the user's module. One trial at a time; tools and journaled model calls are
 * answered by the parent over IPC.
 */
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type ContextLink, createModuleContext, plain } from './module-context.ts';
import type { ChildMessage, Envelope, ModuleFailure, ModuleTask, ParentMessage } from './module-protocol.ts';

type AgentFunction = (input: string, context: unknown) => unknown;

/** This process and, where there are groups, what the module started. */
const own = process.platform === 'win32' ? process.pid : -process.pid;

let current: { link: ContextLink; task: ModuleTask; runId: number } | null = null;

/**
 * A loop that never yields would outlive a parent that was killed: nobody could tell this thread. Another thread looks
 * whether the parent is still there.
 */
function watchParent(): void {
  // The id is taken here: the thread may start after the parent has gone.
  const source = `
    setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(${own}, 'SIGKILL'); }, 500);`;
  new Worker(source, { eval: true, stdout: true, stderr: true }).unref();
}

function send(runId: number, message: ChildMessage, then: () => void = () => {}): void {
  process.send?.({ runId, message } satisfies Envelope<ChildMessage>, undefined, undefined, then);
}

function failureOf(error: unknown, path: string | undefined): ModuleFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), at: null };
  const line = path === undefined ? undefined : error.stack?.split('\n').find((frame) => frame.includes(path));
  const place = line === undefined ? null : /([^/\\]+:\d+:\d+)\)?$/.exec(line.trim());
  return { name: error.name, message: error.message, at: place?.[1] ?? null };
}

async function load(task: ModuleTask): Promise<AgentFunction> {
  const exports = (await import(pathToFileURL(task.path).href)) as Record<string, unknown>;
  const found = exports[task.exportName];
  if (typeof found !== 'function') {
    const names = Object.keys(exports).join(', ') || 'nothing';
    throw new TypeError(`expected a function as export ${task.exportName}; the module exports ${names}`);
  }
  return found as AgentFunction;
}

async function run(runId: number, task: ModuleTask): Promise<void> {
  const link = createModuleContext(task.context, (message) => send(runId, message));
  current = { link, task, runId };
  let message: ChildMessage;
  try {
    const agent = await load(task).catch((error: unknown) => {
      throw new LoadError(error);
    });
    message = { type: 'returned', value: plain(await agent(task.input, link.context)) };
  } catch (error) {
    const loading = error instanceof LoadError;
    const cause = loading ? error.cause : error;
    message = { type: 'failed', phase: loading ? 'load' : 'run', error: failureOf(cause, task.path) };
  }
  current = null;
  send(runId, message);
}

class LoadError extends Error {
  constructor(cause: unknown) {
    super('the module could not be loaded', { cause });
  }
}

/** An error nobody awaited: the module's, so the trial is told; but what state it left is unknown, so the child ends. */
function onStray(error: unknown): void {
  if (current === null) process.exit(1);
  const message = { type: 'failed', phase: 'stray', error: failureOf(error, current.task.path) } as const;
  send(current.runId, message, () => process.exit(1));
}

watchParent();
process.on('uncaughtException', onStray);
process.on('unhandledRejection', onStray);
process.on('disconnect', () => process.kill(own, 'SIGKILL'));
process.on('message', ({ runId, message }: Envelope<ParentMessage>) => {
  if (message.type === 'run') void run(runId, message.task);
  else if (current?.runId === runId) current.link.receive(message);
});
