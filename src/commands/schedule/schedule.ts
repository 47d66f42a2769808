import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { duration, OVERLAPS, timeZone, whole } from '../flag-parsers.ts';
import type { CreateFlags } from './schedule-create.ts';
import type { ScheduleAction } from './schedule-change.ts';

const HELP = `
Examples:
  $ assay schedule create nightly suite.yaml --cron '0 2 * * *' --timezone Asia/Shanghai
  $ assay schedule create weekly deep.yaml --cron '0 4 * * 0' --jitter 10m --trials 5
  $ assay schedule list
  $ assay schedule trigger nightly
  $ assay schedule delete nightly

A schedule reads the suite each time it fires, on the worker that picks it up: the suite file must be there.
Schedules of the embedded Temporal fire while \`assay up\` (or another command that runs a worker) runs.
More: docs/schedules.md.
Exit codes: 0 done, 2 wrong usage, no such schedule, or one of this name exists, 4 Temporal cannot be used.`;

/** `assay schedule …`: evaluations by the clock, on Temporal Schedules. */
export function registerSchedule(program: Command, context: CommandContext): void {
  const schedule = program
    .command('schedule')
    .description('evaluate suites by the clock (Temporal Schedules)')
    .addHelpText('after', HELP);
  registerCreate(schedule, context);
  schedule
    .command('list')
    .description('list schedules with their next times and last results')
    .option('--json', 'print an array of JSON objects')
    .action(async (flags: { json?: boolean }) => {
      const [{ withSession }, { listSchedules }] = await Promise.all([
        import('../session.ts'),
        import('./schedule-list.ts'),
      ]);
      await withSession(context, (session) => listSchedules(context, session, flags.json === true));
    });
  registerChange(schedule, context, 'pause', 'let a schedule rest');
  registerChange(schedule, context, 'unpause', 'let a paused schedule fire again');
  registerChange(schedule, context, 'trigger', 'evaluate now, besides the times of the schedule');
  registerChange(schedule, context, 'delete', 'remove a schedule; its evaluations stay');
}

function registerCreate(schedule: Command, context: CommandContext): void {
  schedule
    .command('create')
    .argument('<name>', 'name of the schedule')
    .argument('<suite>', 'suite file (YAML)')
    .description('evaluate a suite by the clock')
    .requiredOption('--cron <expression>', "when: minute hour day month weekday, e.g. '0 2 * * *'")
    .option('--timezone <zone>', 'time zone the expression is read in (IANA name)', timeZone, 'UTC')
    .option('--jitter <duration>', 'start up to this much later, at random: 90s, 5m, 1h', duration)
    .addOption(
      new Option('--catchup <duration>', 'a time missed by at most this much is made up for')
        .argParser(duration)
        .default(3_600_000, '1h'),
    )
    .addOption(
      new Option('--overlap <policy>', 'when the one before still runs').choices([...OVERLAPS]).default('skip'),
    )
    .option('--trials <n>', "repetitions of every case; default: the suite's", whole(1, 10_000))
    .option('--concurrency <n>', "trials in flight; default: the suite's", whole(1))
    .option('--note <text>', 'shown in the Temporal UI')
    .option('--paused', 'create it paused')
    .option('--json', 'print the schedule as one JSON object')
    .action(async (name: string, suitePath: string, flags: CreateFlags) => {
      const { createSchedule } = await import('./schedule-create.ts');
      await createSchedule(context, name, suitePath, flags);
    });
}

function registerChange(schedule: Command, context: CommandContext, action: ScheduleAction, what: string): void {
  schedule
    .command(action)
    .argument('<name>', 'name of the schedule')
    .description(what)
    .option('--json', 'print what was done as one JSON object')
    .action(async (name: string, flags: { json?: boolean }) => {
      const [{ withSession }, { changeSchedule }] = await Promise.all([
        import('../session.ts'),
        import('./schedule-change.ts'),
      ]);
      await withSession(context, (session) =>
        changeSchedule(context, session, { name, action, json: flags.json === true }),
      );
    });
}
