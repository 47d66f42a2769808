import { randomUUID } from 'node:crypto';
import { createActivities } from '../activities/index.ts';
import type { Cancellations } from '../activities/cancellations.ts';
import type { Pauses } from '../activities/deps.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import { createSourceReader } from '../db/source-trials.ts';
import { createCaseReader } from '../db/trial-reads.ts';
import { createTrialWriter } from '../db/trial-writer.ts';
import { createVerdictReader } from '../db/verdict-cache.ts';
import { loadPrompts } from '../judge/load-prompts.ts';
import { createAdapters } from './adapters.ts';

/** The activities of one worker process, with every adapter they use. */
export interface ComposedActivities {
  activities: ReturnType<typeof createActivities>;
  /** Ends what the adapters hold: agents, scorers, scripted models. */
  close(): Promise<void>;
}

export function composeActivities(options: {
  config: Config;
  db: Db;
  cancellations: Cancellations;
  pauses: Pauses;
  /** Where suites of schedules are looked up. */
  cwd: string;
}): ComposedActivities {
  const { config, db, cancellations, pauses, cwd } = options;
  const adapters = createAdapters(config);
  const activities = createActivities({
    config,
    db,
    writer: createTrialWriter(db, `${config.hostName}/${process.pid}/${randomUUID().slice(0, 8)}`),
    readCase: createCaseReader(db),
    readVerdicts: createVerdictReader(db),
    readSourceTrial: createSourceReader(db),
    cancellations,
    pauses,
    modelClient: adapters.modelClient,
    createAgent: adapters.createAgent,
    createScorers: adapters.createScorers,
    loadPrompts,
    now: Date.now,
    clock: () => performance.now(),
    cwd,
  });
  return { activities, close: () => adapters.close() };
}
