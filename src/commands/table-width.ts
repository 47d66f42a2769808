import type { CommandContext } from './context.ts';

/** Columns a table may take: those of the terminal; no limit where the output goes to a file or a program. */
export function tableWidth(context: CommandContext): number {
  return context.isTty ? Number(context.env['COLUMNS']) || (context.columns ?? 80) : Infinity;
}
