import type { Command } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { CommandContext } from '../context.ts';

/** `assay db migrate` and `assay db status`: on DATABASE_URL, else on the embedded Postgres (started for it). */
export function registerDb(program: Command, context: CommandContext): void {
  const db = program.command('db').description('database schema: bring it up to date, or show where it is');
  db.command('migrate')
    .description('apply the migrations this version of Assay needs; safe to run twice and from two places at once')
    .option('--json', 'print what was applied as JSON')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgresql://assay:…@db/assay assay db migrate\n')
    .action(async (flags: { json?: boolean }) => {
      const { migrate } = await import('../../db/migrate.ts');
      const { applied } = await withDatabase(context, migrate);
      if (flags.json === true) context.stdout(`${JSON.stringify({ applied })}\n`);
      else if (applied.length === 0) context.stdout('the schema is up to date\n');
      else context.stdout(`applied ${applied.join(', ')}\n`);
    });
  db.command('status')
    .description('applied and waiting migrations; exit code 4 when the schema is not the one this version needs')
    .option('--json', 'print the status as JSON')
    .action(async (flags: { json?: boolean }) => showStatus(context, flags.json === true));
}

async function showStatus(context: CommandContext, json: boolean): Promise<void> {
  const { migrationStatus, refuseOtherSchema } = await import('../../db/migrate.ts');
  const status = await withDatabase(context, migrationStatus);
  if (json) context.stdout(`${JSON.stringify(status)}\n`);
  else {
    for (const name of status.applied) context.stdout(`applied  ${name}\n`);
    for (const name of status.pending) context.stdout(`waiting  ${name}\n`);
  }
  refuseOtherSchema(status);
  if (status.pending.length > 0) {
    throw new UserError(`${status.pending.length} migrations wait.`, {
      exitCode: EXIT.infrastructure,
      hint: 'Run `assay db migrate`.',
    });
  }
}

async function withDatabase<T>(context: CommandContext, work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const { readConfig } = await import('../../config.ts');
  const config = readConfig(context.env, context.cwd);
  if (config.databaseUrl !== undefined) return work(config.databaseUrl);
  const { ensureDatabaseOnly } = await import('../../local/stack.ts');
  const log = (line: string): void => context.stderr(`${line}\n`);
  const database = await ensureDatabaseOnly({ home: config.home, log, env: context.env });
  try {
    return await work(database.databaseUrl);
  } finally {
    await database.release();
  }
}
