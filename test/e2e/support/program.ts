import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const repository = path.resolve(import.meta.dirname, '../../..');
/** The command line as a user starts it: from source, or compiled when ASSAY_ENTRY names a file. */
const ENTRY = process.env['ASSAY_ENTRY'] ?? path.join(repository, 'bin/assay.js');

/** A running command of ours, with everything it has printed. */
export interface Program {
  child: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Exit code; null when it was killed by a signal. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
  /** Waits until the output matches. */
  until(pattern: RegExp, boundMs?: number): Promise<RegExpMatchArray>;
}

export interface ProgramOptions {
  cwd: string;
  env: Record<string, string>;
}

/** The environment of a test's programs: nothing of the developer's own Temporal, Postgres or keys gets in. */
export function cleanEnv(extra: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && !/^(ASSAY_|TEMPORAL_|OPENAI_|DATABASE_URL|PG|VITEST|NODE_OPTIONS)/.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...extra };
}

/** Starts `assay <args>`. */
export function startAssay(args: string[], options: ProgramOptions): Program {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  let running = true;
  void exited.then(() => (running = false));
  return {
    child,
    pid: child.pid ?? -1,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    kill: (signal) => void child.kill(signal),
    async until(pattern, boundMs = 60_000) {
      const deadline = Date.now() + boundMs;
      for (;;) {
        const match = pattern.exec(`${stdout}\n${stderr}`);
        if (match !== null) return match;
        if (!running)
          throw new Error(`assay ${args.join(' ')} ended before it printed ${pattern}:\n${stdout}\n${stderr}`);
        if (Date.now() > deadline)
          throw new Error(`assay ${args.join(' ')} did not print ${pattern} in ${boundMs} ms:\n${stdout}\n${stderr}`);
        await sleep(20);
      }
    },
  };
}

/** Runs `assay <args>` to its end. */
export async function runAssay(
  args: string[],
  options: ProgramOptions & { boundMs?: number },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const program = startAssay(args, options);
  const timer = setTimeout(() => program.kill('SIGKILL'), options.boundMs ?? 120_000);
  const code = await program.exited;
  clearTimeout(timer);
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** Polls until `check` gives a value. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | null | undefined | false>,
  boundMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + boundMs;
  for (;;) {
    const value = await check().catch(() => null);
    if (value !== null && value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${boundMs} ms`);
    await sleep(25);
  }
}
