/** The user's own modules, one export a behaviour. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { ModuleContext } from '../../../../src/agents/module/module-context.ts';

export default async function agent(input: string, context: ModuleContext): Promise<string> {
  const order = (await context.tools['get_order']?.({ order: 88 })) as { status: string };
  return `${input}: ${order.status}`;
}

export function inspect(input: string, { tools, signal, ...rest }: ModuleContext): unknown {
  return { answer: JSON.stringify({ input, tools: Object.keys(tools), aborted: signal.aborted, ...rest }) };
}

export const nothing = (): void => {};

export const structured = (): unknown => ({
  answer: 'done',
  finalStatus: 'PARTIAL_SUCCESS',
  plan: ['look', 'act'],
  retrievedDocIds: ['d2', 'd1'],
  usage: { input: 7, output: 3 },
});

export const misnamed = (): unknown => ({ answer: 'done', final_status: 'COMPLETED' });

export function throws(): never {
  throw new RangeError('out of my depth');
}

export async function stray(): Promise<string> {
  void Promise.reject(new Error('nobody awaits me'));
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  return 'unreachable';
}

export async function catches(_input: string, { callTool }: ModuleContext): Promise<string> {
  return callTool('get_order', {}).then(
    () => 'answered',
    (error: { name: string; kind: string; message: string }) => `${error.name} ${error.kind} ${error.message}`,
  );
}

export async function parallel(_input: string, { tools, callTool }: ModuleContext): Promise<string> {
  await Promise.all([tools['get_order']?.({ n: 1 }), tools['get_order']?.({ n: 2 })]);
  await callTool('refund', { n: 3 });
  return 'ok';
}

export async function wraps(_input: string, { wrap }: ModuleContext): Promise<string> {
  const own = wrap({
    add: (args: { a: number; b: number }) => args.a + args.b,
    sdk: { description: 'like an SDK tool', execute: async (args: { x: number }) => ({ doubled: args.x * 2 }) },
    fails: () => {
      throw new Error('broken tool');
    },
  });
  const sum = await (own.add({ a: 1, b: 2 }) as unknown as Promise<number>);
  const { doubled } = await own.sdk.execute({ x: 4 });
  await (own.fails() as Promise<void>).catch(() => {});
  return `${sum} ${doubled} ${own.sdk.description}`;
}

export async function completes(input: string, { complete, tools }: ModuleContext): Promise<string> {
  const messages = [{ role: 'user', content: input }];
  const first = await complete({ model: 'm', messages });
  await tools['get_order']?.({});
  await tools['refund']?.({});
  const second = await complete({ model: 'm', messages: [...messages, { role: 'assistant', content: first.content }] });
  return second.content ?? '';
}

export async function swallows(_input: string, { complete }: ModuleContext): Promise<string> {
  await complete({ model: 'm', messages: [] }).catch(() => {});
  return 'I saw no error';
}

export async function badRequest(_input: string, { complete }: ModuleContext): Promise<string> {
  return complete({ messages: [] }).then(
    () => 'answered',
    (error: Error) => error.message,
  );
}

export async function forever(_input: string, { tools }: ModuleContext): Promise<string> {
  for (;;) await tools['get_order']?.({});
}

export async function leftovers(_input: string, { tools }: ModuleContext): Promise<string> {
  setTimeout(() => void tools['refund']?.({ late: true }), 30);
  return 'early';
}

export async function waits(_input: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 150));
  return String(process.pid);
}

export const pid = (): string => String(process.pid);

export function exits(): never {
  console.error('goodbye');
  process.exit(7);
}

export function memory(): string {
  const hoard: number[][] = [];
  for (;;) hoard.push(Array.from({ length: 50_000 }, Math.random));
}

export function loops(): never {
  for (;;);
}

/** Writes its pid, and that of a process it starts. */
function startChild({ options }: ModuleContext, detached: boolean): void {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached });
  writeFileSync(options['file'] as string, `${process.pid} ${child.pid}`);
}

/** Starts a process of its own, writes both pids, then loops. */
export function loopsWithChild(_input: string, context: ModuleContext): never {
  startChild(context, false);
  for (;;);
}

/** The same, with a process in a session of its own. */
export function loopsWithDetached(_input: string, context: ModuleContext): never {
  startChild(context, true);
  for (;;);
}

/** Waits for ever beside a process in a session of its own. */
export function waitsWithDetached(_input: string, context: ModuleContext): Promise<string> {
  startChild(context, true);
  return new Promise(() => undefined);
}

/** Answers, and leaves a process in a session of its own. */
export function leavesDetached(_input: string, context: ModuleContext): string {
  startChild(context, true);
  return 'done';
}

export function heedsSignal(_input: string, { signal, options }: ModuleContext): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      writeFileSync(options['file'] as string, 'cleaned up');
      resolve('stopped');
    });
  });
}

export const noFunction = 42;
