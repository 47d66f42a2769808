import { InvalidArgumentError, type Command } from 'commander';
import type { Config } from '../../config.ts';
import type { Stack, StackPorts } from '../../local/stack.ts';
import type { RunningWorker } from '../../worker.ts';
import type { CommandContext } from '../context.ts';
import { unlessAborted } from '../interruptible.ts';
import { commandPatience } from '../patience.ts';
import { shownAddress } from './shown-address.ts';
import { type StopSignal, stopSignal } from '../stop-signal.ts';

interface UpFlags {
  worker: boolean;
  untilIdle?: boolean;
  stop?: boolean;
  temporalPort?: number;
  uiPort?: number;
  postgresPort?: number;
  showPassword?: boolean;
  json?: boolean;
}

/** How long nothing must have run before `--until-idle` ends, and how often it looks, in milliseconds. */
const IDLE_MS = 30_000;
const LOOK_MS = 2000;

/** `assay up`: the stack and a worker in the foreground, so that detached evaluations and schedules go on. */
export function registerUp(program: Command, context: CommandContext): void {
  program
    .command('up')
    .description('start Temporal, Postgres and a worker in the foreground; Ctrl-C stops them, unless a run uses them')
    .option('--no-worker', 'only Temporal and Postgres')
    .option('--until-idle', `end when no evaluation has been running for ${IDLE_MS / 1000} s`)
    .option('--stop', 'stop what a killed process left running in this folder, then end')
    .option('--temporal-port <port>', 'port of the embedded Temporal (default: a free one)', port)
    .option('--ui-port <port>', 'port of its web page (default: a free one)', port)
    .option('--postgres-port <port>', 'port of the embedded Postgres (default: a free one)', port)
    .option('--show-password', 'print the password in the address of Postgres')
    .option('--json', 'print the addresses as one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  assay up                     # keeps schedules firing\n  assay up --no-worker         # with `assay worker` elsewhere\n  assay run suite.yaml --detach && assay up --until-idle\n',
    )
    .action(async (flags: UpFlags) => {
      const { readConfig } = await import('../../config.ts');
      const config = readConfig(context.env, context.cwd);
      if (flags.stop === true) await stopLeftovers(config.home, context);
      else await runUp(config, flags, context);
    });
}

async function runUp(config: Config, flags: UpFlags, context: CommandContext): Promise<void> {
  const log = (line: string): void => context.stderr(`${line}\n`);
  const ended = stopSignal({
    signals: ['SIGINT', 'SIGTERM', 'SIGHUP'],
    onFirst: () => log('stopping … (Ctrl-C again to leave at once)'),
  });
  // Listening for signals keeps no process alive, and without a worker nothing else does.
  const alive = setInterval(() => undefined, 60_000);
  try {
    await upUntil(ended, config, flags, context);
  } catch (error) {
    // Stopped while it was starting: that is what was asked for.
    if (error !== ended.signal.reason) throw error;
  } finally {
    clearInterval(alive);
    ended.dispose();
  }
}

/** The stack and a worker until a signal, the worker's death, or (when asked for) idleness. */
async function upUntil(ended: StopSignal, config: Config, flags: UpFlags, context: CommandContext): Promise<void> {
  const { ensureStack } = await import('../../local/stack.ts');
  const log = (line: string): void => context.stderr(`${line}\n`);
  const { signal } = ended;
  const stack = await ensureStack({ home: config.home, ports: portsOf(flags), log, env: context.env, signal });
  let worker: RunningWorker | null = null;
  try {
    const { prepareSchema } = await import('../../db/prepare-schema.ts');
    const preparing = { embedded: stack.embedded.postgres, patience: commandPatience(context) };
    await unlessAborted(signal, prepareSchema(stack.databaseUrl, preparing));
    if (flags.worker) worker = await unlessAborted(signal, startWorkerOn(stack, config, context));
    const where = addresses(stack, flags);
    context.stdout(flags.json === true ? `${JSON.stringify(where)}\n` : renderAddresses(where));
    const reasons: Promise<void>[] = [ended.asked];
    if (worker !== null) reasons.push(worker.failed);
    if (flags.untilIdle === true) reasons.push(untilIdle(stack, ended.signal));
    await Promise.race(reasons);
    if (!ended.signal.aborted) log('nothing runs any more: stopping');
  } finally {
    await worker?.stop();
    await stack.release();
  }
}

async function startWorkerOn(stack: Stack, config: Config, context: CommandContext): Promise<RunningWorker> {
  const { startWorker } = await import('../../worker.ts');
  return startWorker({
    config: { ...config, namespace: stack.namespace },
    databaseUrl: stack.databaseUrl,
    connectionOptions: stack.connectionOptions,
    cwd: context.cwd,
    log: (line) => context.stderr(`${line}\n`),
  });
}

async function stopLeftovers(home: string, context: CommandContext): Promise<void> {
  const { stopStack } = await import('../../local/stack.ts');
  const stopped = await stopStack({ home, log: (line) => context.stderr(`${line}\n`) });
  context.stdout(
    stopped ? 'nothing of the embedded stack is running\n' : 'a live process uses the stack; it keeps running\n',
  );
}

function portsOf(flags: UpFlags): StackPorts {
  return {
    ...(flags.temporalPort === undefined ? {} : { temporal: flags.temporalPort }),
    ...(flags.uiPort === undefined ? {} : { ui: flags.uiPort }),
    ...(flags.postgresPort === undefined ? {} : { postgres: flags.postgresPort }),
  };
}

type Addresses = Record<'temporal' | 'namespace' | 'postgres', string> & { ui: string | null };

function addresses(stack: Stack, flags: UpFlags): Addresses {
  const postgres = shownAddress(stack.databaseUrl, flags.showPassword === true);
  return { temporal: stack.temporalAddress, namespace: stack.namespace, ui: stack.uiUrl, postgres };
}

/** The addresses as `assay up` prints them. */
export function renderAddresses({ temporal, namespace, ui, postgres }: Addresses): string {
  const lines = [`Temporal     ${temporal} (namespace ${namespace})`];
  if (ui !== null) lines.push(`Temporal UI  ${ui}`);
  lines.push(`Postgres     psql '${postgres}'`);
  if (new URL(postgres).password === '***') {
    lines.push('             assay sql --psql opens it; assay sql --show-password prints the password');
  }
  lines.push('ready; Ctrl-C stops');
  return `${lines.join('\n')}\n`;
}

/** Resolves when no evaluation has been running for a while. Paused ones count as running. */
async function untilIdle(stack: Stack, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  const { runningEvaluations } = await import('../../local/running-evaluations.ts');
  let idleSince = performance.now();
  while (performance.now() - idleSince < IDLE_MS) {
    if (signal.aborted) return;
    const running = await runningEvaluations(stack);
    // null: Temporal is being restarted, which says nothing about what runs.
    if (running !== 0) idleSince = performance.now();
    await sleep(LOOK_MS, undefined, { signal, ref: true }).catch(() => undefined);
  }
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value < 1 || value > 65_535) throw new InvalidArgumentError('Expected 1 to 65535.');
  return value;
}
