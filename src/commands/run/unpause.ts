import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { register } from './pause.ts';

/** `assay unpause`: lets a paused evaluation go on. */
export function registerUnpause(program: Command, context: CommandContext): void {
  register(program, context, false);
}
