import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { registerRun } from './run.ts';

/** Every subcommand, in the order `--help` lists them. */
export function registerCommands(program: Command, context: CommandContext): void {
  registerRun(program, context);
}
