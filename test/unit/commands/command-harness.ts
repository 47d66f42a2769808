import { Command } from 'commander';
import type { CommandContext } from '../../../src/commands/context.ts';
import { ExitSignal } from '../../../src/commands/exit-signal.ts';

export interface CommandRun {
  stdout: string;
  stderr: string;
  /** 0, or the code of an ExitSignal; other errors are thrown. */
  exitCode: number;
}

/** Runs one registered command in this process. */
export async function runCommand(
  register: (program: Command, context: CommandContext) => void,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined> },
): Promise<CommandRun> {
  const run: CommandRun = { stdout: '', stderr: '', exitCode: 0 };
  const context: CommandContext = {
    env: options.env ?? {},
    stdout: (text) => void (run.stdout += text),
    stderr: (text) => void (run.stderr += text),
    cwd: options.cwd,
    isTty: false,
  };
  const program = new Command('assay').exitOverride();
  program.configureOutput({ writeOut: context.stdout, writeErr: context.stderr });
  register(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof ExitSignal)) throw error;
    run.exitCode = error.exitCode;
  }
  return run;
}
