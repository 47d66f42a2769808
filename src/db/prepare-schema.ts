import { migrate, migrationStatus, requireCurrent } from './migrate.ts';
import type { Patience } from './patience.ts';

/**
 * Makes the schema ready for a command. An embedded or empty database is migrated at once; a shared one that lags
 * behind is left to its owner.
 * @throws UserError (exit 4) naming the missing migrations and how to apply them, or what else is wrong with the schema.
 */
export async function prepareSchema(
  databaseUrl: string,
  options: { embedded: boolean; patience?: Patience },
): Promise<{ applied: string[] }> {
  const status = await migrationStatus(databaseUrl, options.patience);
  if (status.pending.length > 0 && (options.embedded || status.applied.length === 0)) return migrate(databaseUrl);
  requireCurrent(status);
  return { applied: [] };
}
