import { createPatience, type Patience } from '../db/patience.ts';
import type { CommandContext } from './context.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** What every command does about a Postgres that is away: it waits half a minute, and after a second says so. */
export function commandPatience(context: CommandContext): Patience {
  // A progress line may stand where this is written.
  return createPatience({ log: (line) => context.stderr(`${context.isTty ? CLEAR_LINE : ''}${line}\n`) });
}
