import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { whole } from '../flag-parsers.ts';
import type { SqlFlags } from './run-sql.ts';

const HELP = `
Examples:
  $ assay sql                                      how to connect, and the named queries
  $ assay sql regressions                          a named query
  $ assay sql "select * from evaluation_summary order by started_at desc" --limit 5
  $ assay sql cost --json | jq
  $ assay sql --psql                               opens psql where there is one

Statements run in a read-only transaction with a timeout of 30 s. Tables and views are described in docs/sql.md.
Exit codes: 0 done, 2 no such query or a statement Postgres refuses, 4 Postgres cannot be used.`;

/** `assay sql`: how to connect, a named query, or a select of one's own. */
export function registerSql(program: Command, context: CommandContext): void {
  program
    .command('sql')
    .argument('[query]', 'name of a query, or a select statement')
    .description('query the results: connection, named queries, or a select of your own')
    .option('--limit <n>', 'at most this many rows', whole(1), 1_000)
    .option('--psql', 'open psql on the database')
    .option('--show-password', 'print the password in the connection address')
    .option('--json', 'print an array of JSON objects')
    .addHelpText('after', HELP)
    .action(async (query: string | undefined, flags: SqlFlags) => {
      const { runSql } = await import('./run-sql.ts');
      await runSql(context, query, flags);
    });
}
