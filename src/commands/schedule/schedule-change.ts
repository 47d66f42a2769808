import { ScheduleNotFoundError } from '@temporalio/client';
import { nearest } from '../../core/did-you-mean.ts';
import { UserError } from '../../core/errors.ts';
import { some } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { embeddedWarning, ourSchedules } from './our-schedules.ts';
import type { Session } from '../session.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

export type ScheduleAction = 'pause' | 'unpause' | 'trigger' | 'delete';

const DONE: Record<ScheduleAction, string> = {
  pause: 'is paused',
  unpause: 'fires again',
  trigger: 'was triggered',
  delete: 'is deleted; its evaluations stay',
};

/** Pauses, unpauses, triggers or deletes a schedule. */
export async function changeSchedule(
  context: CommandContext,
  session: Session,
  wanted: { name: string; action: ScheduleAction; json: boolean },
): Promise<void> {
  const { name, action } = wanted;
  const handle = session.client.schedule.getHandle(name);
  try {
    await whileUnavailable(() => (action === 'trigger' ? handle.trigger() : handle[action]()));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw await unknownSchedule(session, name);
  }
  context.stdout(
    wanted.json ? `${JSON.stringify({ schedule: name, action })}\n` : `schedule ${name} ${DONE[action]}\n`,
  );
  const warning = action === 'delete' || action === 'pause' ? null : embeddedWarning(session);
  if (warning !== null) context.stderr(warning);
}

async function unknownSchedule(session: Session, name: string): Promise<UserError> {
  const names = (await ourSchedules(session)).map((summary) => summary.scheduleId);
  const near = nearest(name, names);
  const shown = near === null ? some(names, 5) : near;
  return new UserError(`There is no schedule "${name}".`, {
    hint: names.length === 0 ? 'There are none; `assay schedule create` makes one.' : `There is: ${shown}.`,
  });
}
