import path from 'node:path';
import { ScheduleAlreadyRunning, type ScheduleOverlapPolicy } from '@temporalio/client';
import { formatProblem, UserError } from '../../core/errors.ts';
import { loadSuite } from '../../datasets/load-suite.ts';
import type { ScheduledInput } from '../../workflows/scheduled-evaluation.ts';
import type { CommandContext } from '../context.ts';
import type { OVERLAPS } from '../flag-parsers.ts';
import { embeddedWarning, SCHEDULED_WORKFLOW } from './our-schedules.ts';
import { type Session, withSession } from '../session.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

export interface CreateFlags {
  cron: string;
  timezone: string;
  /** Milliseconds. */
  jitter?: number;
  /** Milliseconds. */
  catchup: number;
  overlap: (typeof OVERLAPS)[number];
  trials?: number;
  concurrency?: number;
  note?: string;
  paused?: boolean;
  json?: boolean;
}

/** Creates a schedule after checking that its suite loads now. */
export async function createSchedule(
  context: CommandContext,
  name: string,
  suiteFile: string,
  flags: CreateFlags,
): Promise<void> {
  if (!/^[A-Za-z0-9][\w.-]{0,79}$/.test(name)) {
    throw new UserError(`A schedule cannot be named "${name}".`, {
      hint: 'Use up to 80 letters, digits, `-`, `_` and `.`.',
    });
  }
  const suitePath = path.resolve(context.cwd, suiteFile);
  const loaded = await loadSuite(suitePath, { env: context.env });
  for (const problem of loaded.problems) context.stderr(`${formatProblem(problem)}\n`);
  await withSession(context, async (session) => {
    const input: ScheduledInput = {
      scheduleId: name,
      suitePath,
      ...(flags.trials === undefined ? {} : { trials: flags.trials }),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    };
    await create(session, name, flags, input, loaded.suite.name);
    const { describeSchedule } = await import('./schedule-list.ts');
    const created = await describeSchedule(session, name);
    if (flags.json === true) context.stdout(`${JSON.stringify(created, null, 2)}\n`);
    else {
      const [next] = created.next;
      const first = created.paused ? 'paused' : next === undefined ? 'it never fires' : `first at ${next}`;
      context.stdout(`schedule ${name}: ${flags.cron} (${flags.timezone}), ${first}\n`);
    }
    const warning = embeddedWarning(session);
    if (warning !== null) context.stderr(warning);
  });
}

async function create(
  session: Session,
  name: string,
  flags: CreateFlags,
  input: ScheduledInput,
  suite: string,
): Promise<void> {
  const options = {
    scheduleId: name,
    spec: {
      cronExpressions: [flags.cron],
      timezone: flags.timezone,
      ...(flags.jitter === undefined ? {} : { jitter: flags.jitter }),
    },
    action: {
      type: 'startWorkflow' as const,
      workflowType: SCHEDULED_WORKFLOW,
      workflowId: `schedule/${name}`,
      taskQueue: session.config.taskQueue,
      args: [input],
      staticSummary: `${suite}, by schedule ${name}`.slice(0, 390),
    },
    policies: { overlap: overlapOf(flags.overlap), catchupWindow: flags.catchup },
    state: { paused: flags.paused === true, ...(flags.note === undefined ? {} : { note: flags.note }) },
    memo: { suite, suitePath: input.suitePath, cron: flags.cron, timezone: flags.timezone },
  };
  try {
    await whileUnavailable(() => session.client.schedule.create(options));
  } catch (error) {
    throw translated(error, name, flags);
  }
}

function overlapOf(overlap: CreateFlags['overlap']): ScheduleOverlapPolicy {
  return overlap.toUpperCase() as ScheduleOverlapPolicy;
}

function translated(error: unknown, name: string, flags: CreateFlags): unknown {
  if (error instanceof ScheduleAlreadyRunning) {
    return new UserError(`There is a schedule "${name}" already.`, {
      hint: `Choose another name, or remove it first: \`assay schedule delete ${name}\`.`,
      cause: error,
    });
  }
  // The SDK turns the server's "invalid schedule spec" into a TypeError with the server's words.
  if (error instanceof TypeError) {
    return new UserError(`Temporal refuses --cron '${flags.cron}': ${error.message}`, {
      hint: "It takes five fields, minute hour day month weekday, e.g. '0 2 * * *' for every day at two.",
      cause: error,
    });
  }
  return error;
}
