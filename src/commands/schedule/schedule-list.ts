import { type ScheduleDescription, ScheduleNotFoundError } from '@temporalio/client';
import { listEvaluations } from '../../db/evaluations.ts';
import { fittedTable } from '../../report/align.ts';
import { cleanText } from '../../report/clean.ts';
import { NONE } from '../../report/format.ts';
import { localMinute } from '../../report/list-table.ts';
import type { CommandContext } from '../context.ts';
import { type Firing, lastFiring } from './last-firing.ts';
import { embeddedWarning, ourSchedules } from './our-schedules.ts';
import type { Session } from '../session.ts';
import { tableWidth } from '../table-width.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

/** A schedule as Temporal has it, with its last evaluation from Postgres. */
export interface ListedSchedule {
  schedule: string;
  suite: string | null;
  suite_path: string | null;
  cron: string | null;
  timezone: string | null;
  paused: boolean;
  note: string | null;
  /** ISO 8601, soonest first. */
  next: string[];
  /** The last time it fired; null when it never did, or Temporal has forgotten it. */
  last_firing: Firing | null;
  last: { evaluation_id: string; status: string; exit_code: number | null; verdict: string | null } | null;
}

const NEXT_SHOWN = 3;

async function listed(session: Session, source: ScheduleDescription): Promise<ListedSchedule> {
  const [[row], firing] = await Promise.all([
    listEvaluations(session.db, { scheduleId: source.scheduleId, limit: 1 }),
    lastFiring(session, source.info.recentActions),
  ]);
  const failed = firing !== null && firing.message !== null;
  const text = (key: string): string | null => {
    const value = source.memo?.[key];
    return typeof value === 'string' ? value : null;
  };
  return {
    schedule: source.scheduleId,
    suite: text('suite'),
    suite_path: text('suitePath'),
    cron: text('cron'),
    timezone: text('timezone'),
    paused: source.state.paused,
    note: source.state.note ?? null,
    next: source.info.nextActionTimes.slice(0, NEXT_SHOWN).map((time) => time.toISOString()),
    last_firing: firing,
    last:
      // The evaluation before says nothing of a firing that failed.
      row === undefined || (failed && row.created_at.getTime() < Date.parse(firing.at))
        ? null
        : { evaluation_id: row.id, status: row.status, exit_code: row.exit_code, verdict: row.verdict },
  };
}

/** One schedule, read from the server and not from its index (which lags behind). */
export async function describeSchedule(session: Session, name: string): Promise<ListedSchedule> {
  return listed(session, await whileUnavailable(() => session.client.schedule.getHandle(name).describe()));
}

/** Null for one that is gone: the index lists it a little longer. */
async function describeIfThere(session: Session, name: string): Promise<ListedSchedule | null> {
  try {
    return await describeSchedule(session, name);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

export async function listSchedules(context: CommandContext, session: Session, json: boolean): Promise<void> {
  const summaries = await ourSchedules(session);
  const found = await Promise.all(summaries.map((summary) => describeIfThere(session, summary.scheduleId)));
  const schedules = found.filter((one) => one !== null);
  if (json) context.stdout(`${JSON.stringify(schedules, null, 2)}\n`);
  else if (schedules.length === 0) context.stdout('no schedules; `assay schedule create` makes one\n');
  else context.stdout(`${scheduleTable(schedules, tableWidth(context)).join('\n')}\n`);
  const warning = schedules.length === 0 ? null : embeddedWarning(session);
  if (warning !== null) context.stderr(warning);
}

export function scheduleTable(schedules: readonly ListedSchedule[], width: number): string[] {
  return fittedTable(
    [
      { title: 'schedule' },
      { title: 'suite', max: 24, min: 6, drop: 2 },
      { title: 'cron', drop: 3 },
      { title: 'time zone', drop: 1 },
      { title: 'next' },
      { title: 'last evaluation', drop: 4 },
      { title: 'verdict', max: 60, min: 16 },
    ],
    schedules.map((one) => [
      one.schedule,
      one.suite === null ? NONE : cleanText(one.suite),
      one.cron ?? NONE,
      one.timezone ?? NONE,
      one.paused ? 'paused' : nextText(one.next),
      one.last?.evaluation_id ?? NONE,
      cleanText(outcomeText(one)),
    ]),
    width,
  );
}

/** What came of the last firing: why it failed, else the verdict of its evaluation. */
export function outcomeText({ last, last_firing: firing }: Pick<ListedSchedule, 'last' | 'last_firing'>): string {
  if (firing !== null && firing.message !== null) return `${firing.status.replaceAll('_', ' ')}: ${firing.message}`;
  if (last !== null) return last.verdict ?? last.status;
  return firing?.status === 'running' ? 'fired, waits for a worker' : NONE;
}

function nextText(times: readonly string[]): string {
  const [next] = times;
  return next === undefined ? 'never' : localMinute(new Date(next));
}
