import type { ScheduleSummary } from '@temporalio/client';
import type { Session } from '../session.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

/** Name of the workflow type that marks a Temporal Schedule as one of ours. */
export const SCHEDULED_WORKFLOW = 'scheduledEvaluation';

/** The schedules that start evaluations, by name. */
export async function ourSchedules(session: Session): Promise<ScheduleSummary[]> {
  return whileUnavailable(async () => {
    const found: ScheduleSummary[] = [];
    for await (const summary of session.client.schedule.list()) {
      if (summary.action?.workflowType === SCHEDULED_WORKFLOW) found.push(summary);
    }
    return found.sort((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1));
  });
}

/** The embedded Temporal is there only while something uses it. */
export function embeddedWarning(session: Session): string | null {
  if (!session.stack.embedded.temporal) return null;
  return 'note: this is the embedded Temporal: schedules fire only while `assay up` runs\n';
}
