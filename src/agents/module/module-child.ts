/**
 * Entry of the child process that runs the user's module. One trial at a time; tools and journaled model calls are
 * answered by the parent over IPC.
 */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Json } from '../../core/json.ts';
import { KILL_MARKED_AND_GROUP } from '../command/kill-marked.ts';
import { killTree, taskkillArguments } from './kill-tree.ts';
import { type ContextLink, createModuleContext, plain } from './module-context.ts';
import type {
  ChildMessage,
  Envelope,
  ModuleFailure,
  ModulePlace,
  ModuleTask,
  ParentMessage,
} from './module-protocol.ts';
import { syntaxPlace } from './syntax-place.ts';

type AgentFunction = (input: string, context: unknown) => unknown;

/** What tells all this process starts, whatever it does to its group. The module's own arguments are none. */
const [mark = ''] = process.argv.splice(2);
/** Ends this process and all it started, once its parent is gone; not for Windows. */
const SWEEPER = ['-c', KILL_MARKED_AND_GROUP, mark, String(process.pid)];

let place = '';
let agent: AgentFunction = () => {
  throw new Error('no module is loaded');
};
let current: { link: ContextLink; runId: number } | null = null;

/**
 * A loop that never yields would outlive a parent that was killed: nobody could tell this thread. Another thread looks
 * whether the parent is still there.
 */
function watchParent(): void {
  const source = `
    const { parent, tree, sweeper } = require('node:worker_threads').workerData;
    // On Windows the id of a parent that has gone stays what it was.
    const gone = () => {
      if (process.ppid !== parent) return true;
      try { process.kill(parent, 0); return false; } catch (error) { return error.code === 'ESRCH'; }
    };
    const end = () => {
      const { spawn, spawnSync } = require('node:child_process');
      if (process.platform !== 'win32') {
        spawn('/bin/sh', sweeper, { stdio: 'ignore', detached: true });
        return process.kill(-process.pid, 'SIGKILL');
      }
      spawnSync('taskkill', tree, { stdio: 'ignore', windowsHide: true });
      process.kill(process.pid, 'SIGKILL');
    };
    setInterval(() => { if (gone()) end(); }, 500);`;
  // The id is taken here: the thread may start after the parent has gone.
  const workerData = { parent: process.ppid, tree: taskkillArguments(process.pid), sweeper: SWEEPER };
  new Worker(source, { eval: true, stdout: true, stderr: true, workerData }).unref();
}

function send(runId: number, message: ChildMessage, then: () => void = () => {}): void {
  process.send?.({ runId, message } satisfies Envelope<ChildMessage>, undefined, undefined, then);
}

function failureOf(error: unknown): ModuleFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), at: null };
  const line = error.stack?.split('\n').find((frame) => frame.includes(place));
  const at = line === undefined ? null : /([^/\\]+:\d+:\d+)\)?$/.exec(line.trim());
  return { name: error.name, message: error.message, at: at?.[1] ?? null };
}

async function load(runId: number, { path, exportName }: ModulePlace): Promise<void> {
  place = path;
  try {
    const exports = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    const found = exports[exportName];
    if (typeof found !== 'function') {
      const names = Object.keys(exports).join(', ') || 'nothing';
      throw new TypeError(`expected a function as export ${exportName}; the module exports ${names}`);
    }
    agent = found as AgentFunction;
    send(runId, { type: 'loaded' });
  } catch (error) {
    const failure = failureOf(error);
    const at = failure.at ?? (error instanceof SyntaxError ? syntaxPlace(error, path) : null);
    send(runId, { type: 'failed', phase: 'load', error: { ...failure, at } });
  }
}

async function run(runId: number, task: ModuleTask): Promise<void> {
  const link = createModuleContext(task.context, (message) => send(runId, message));
  current = { link, runId };
  let message: ChildMessage;
  try {
    message = { type: 'returned', value: plain(await agent(task.input, link.context)) };
  } catch (error) {
    message = { type: 'failed', phase: 'run', error: failureOf(error) };
  }
  current = null;
  send(runId, message);
}

/** Numbers that JSON has no form for are written out: they must not arrive as null, which has a meaning of its own. */
async function score(runId: number, input: Json): Promise<void> {
  let message: ChildMessage;
  try {
    const text = JSON.stringify(await (agent as unknown as (input: Json) => unknown)(input), (_key, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? `(${value})` : value,
    );
    message = { type: 'returned', value: text === undefined ? null : (JSON.parse(text) as Json) };
  } catch (error) {
    message = { type: 'failed', phase: 'run', error: failureOf(error) };
  }
  send(runId, message);
}

/** An error nobody awaited: the module's, so the trial is told; but what state it left is unknown, so the child ends. */
function onStray(error: unknown): void {
  if (current === null) process.exit(1);
  const message = { type: 'failed', phase: 'stray', error: failureOf(error) } as const;
  send(current.runId, message, () => process.exit(1));
}

watchParent();
process.on('uncaughtException', onStray);
process.on('unhandledRejection', onStray);
process.on('disconnect', () => {
  // In a session of its own: it outlives this process.
  if (process.platform !== 'win32') spawn('/bin/sh', SWEEPER, { stdio: 'ignore', detached: true });
  killTree(process.pid);
});
process.on('message', ({ runId, message }: Envelope<ParentMessage>) => {
  if (message.type === 'load') void load(runId, message.place);
  else if (message.type === 'run') void run(runId, message.task);
  else if (message.type === 'score') void score(runId, message.input);
  else if (current?.runId === runId) current.link.receive(message);
});
