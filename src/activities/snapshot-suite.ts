import path from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { UserError } from '../core/errors.ts';
import { hashText } from '../core/hash.ts';
import { loadSuite } from '../datasets/load-suite.ts';
import { createEvaluation } from '../db/create-evaluation.ts';
import { idWord, newEvaluation } from '../db/new-evaluation.ts';
import type { ActivityDeps } from './deps.ts';

export interface SnapshotInput {
  scheduleId: string;
  suitePath: string;
  workflowId: string;
  trials?: number;
  concurrency?: number;
}

/** Reads the suite of a schedule as it is now and stores it as an evaluation. The id follows from the workflow's, so a retry makes no second one. */
export function createSnapshotSuite(deps: ActivityDeps): (input: SnapshotInput) => Promise<string> {
  return async (input) => {
    const suitePath = path.resolve(deps.cwd, input.suitePath);
    try {
      const loaded = await loadSuite(suitePath, { env: deps.config.env });
      const evaluation = newEvaluation(loaded, {
        env: deps.config.env,
        now: new Date(deps.now()),
        suffix: hashText(input.workflowId).slice(0, 6),
        scheduleId: input.scheduleId,
        ...(input.trials === undefined ? {} : { trials: input.trials }),
        ...(input.concurrency === undefined ? {} : { concurrency: input.concurrency }),
      });
      // The clock may have moved on between two tries of this step.
      const id = `${idWord(evaluation.suite.name)}-${hashText(input.workflowId).slice(0, 12)}`;
      await createEvaluation(deps.db, { ...evaluation, id });
      return id;
    } catch (error) {
      if (error instanceof UserError) {
        throw ApplicationFailure.nonRetryable(`schedule ${input.scheduleId}: ${error.message}`, 'InvalidSuite');
      }
      throw error;
    }
  };
}
