import { Command, CommanderError } from 'commander';
import type { CommandContext } from './commands/context.ts';
import { ExitSignal } from './commands/exit-signal.ts';
import { EXIT, OtherSchemaError, UserError } from './core/errors.ts';
import { registerCommands } from './commands/index.ts';
import { upToUnknownCommand } from './commands/named-command.ts';
import { describeOutage } from './db/describe-outage.ts';
import { installedPackage } from './core/installed-package.ts';
import { cleanLines } from './report/clean.ts';

/** The command line: registers commands, maps errors to exit codes. */
export async function main(argv: readonly string[], context: CommandContext): Promise<number> {
  const program = new Command('assay')
    .description('Durable batch evaluation of AI agents, on Temporal and Postgres.')
    .version(installedPackage().version)
    .configureOutput({ writeOut: context.stdout, writeErr: context.stderr })
    .exitOverride()
    .showHelpAfterError('(--help shows the options)')
    .showSuggestionAfterError();
  registerCommands(program, context);
  // Subcommands are made before exitOverride is inherited in some paths; each gets its own.
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(upToUnknownCommand(program, argv.slice(2)), { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return exitCodeOf(error, context);
  }
}

function exitCodeOf(error: unknown, context: CommandContext): number {
  if (error instanceof ExitSignal) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof UserError) {
    // Endpoints, tools and files are quoted here.
    context.stderr(cleanLines(`${error.message}\n${error.hint === null ? '' : `  → ${error.hint}\n`}`));
    return error.exitCode;
  }
  if (lacksTableOrColumn(error)) return exitCodeOf(new OtherSchemaError(error.message, error), context);
  const outage = describeOutage(error);
  if (outage !== null) return exitCodeOf(outage, context);
  context.stderr(unexpected(error));
  return EXIT.infrastructure;
}

/** Postgres knows a table (42P01) or a column (42703) of ours not. What users write as SQL is answered where it is run. */
function lacksTableOrColumn(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '42703');
}

/**
 * A call to Temporal that waits for its next try does not learn that its connection was closed, and throws from a timer.
 * The command ended before that, with an error of its own or none.
 */
function isLateRetry(error: Error): boolean {
  return error.message === 'Channel has been shut down' && /grpc-retry/.test(error.stack ?? '');
}

function unexpected(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `unexpected error: ${text}\n  → this is a defect of assay; please report it with the command you ran\n`;
}

/** Runs the command line on this process and ends it with the command's exit code. */
export async function start(): Promise<void> {
  // Exit code 1 is a verdict on the agent: a crash of ours must not look like one.
  process.on('uncaughtException', (error) => {
    if (isLateRetry(error)) return;
    process.stderr.write(unexpected(error));
    process.exit(EXIT.infrastructure);
  });
  // `assay list | head` closes the pipe early: that is no error.
  process.stdout.on('error', () => process.exit(EXIT.ok));
  const code = await main(process.argv, {
    env: { ...process.env }, // oxlint-disable-line node/no-process-env -- handed on to readConfig, the only reader
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    cwd: process.cwd(),
    isTty: process.stdout.isTTY && process.stderr.isTTY,
    // Read anew each time: windows are resized while an evaluation is followed.
    get columns() {
      return process.stdout.columns as number | undefined;
    },
  });
  process.stdout.write('', () => process.exit(code));
}

if (import.meta.main) await start();
