import type { CommandContext } from '../context.ts';

/** Width and colour of the text report. */
export function layoutOf(context: CommandContext): { width: number; color: boolean } {
  const columns = Number(context.env['COLUMNS']) || context.columns;
  const color = context.isTty && (context.env['NO_COLOR'] ?? '') === '';
  return { width: Math.min(120, Math.max(80, columns ?? 100)), color };
}
