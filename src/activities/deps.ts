import type { EventEmitter } from 'node:events';
import type { ClosableAgent } from '../agents/index.ts';
import type { Config } from '../config.ts';
import type { ModelClient } from '../core/model.ts';
import type { CustomScorerConfig, Suite } from '../core/suite.ts';
import type { CustomScorers } from '../custom-scorers/custom-scorers.ts';
import type { Db } from '../db/connect.ts';
import type { createCaseReader } from '../db/trial-reads.ts';
import type { ReadSourceTrial } from '../db/source-trials.ts';
import type { TrialWriter } from '../db/trial-writer.ts';
import type { ReadVerdicts } from '../db/verdict-cache.ts';
import type { PromptSet } from '../judge/prompt.ts';
import type { Cancellations } from './cancellations.ts';

export interface EndpointRequest {
  baseUrl: string | undefined;
  apiKeyEnv: string | undefined;
  /** Absolute path of the scripted model that stands in; null: a real endpoint. */
  offlineModel: string | null;
}

/** `paused`: an evaluation, by its id, starts no further trials. Told by Postgres NOTIFY. */
export type Pauses = EventEmitter<{ paused: [evaluationId: string] }>;

/** What activities need of the world; worker.ts builds it once a process. */
export interface ActivityDeps {
  config: Config;
  db: Db;
  writer: TrialWriter;
  readCase: ReturnType<typeof createCaseReader>;
  readVerdicts: ReadVerdicts;
  readSourceTrial: ReadSourceTrial;
  cancellations: Cancellations;
  pauses: Pauses;
  /** A client of an endpoint; the same request gives the same client. */
  modelClient: (request: EndpointRequest) => Promise<ModelClient>;
  /** A new agent each time: a module is loaded as it is now. Who asks closes it. */
  createAgent: (suite: Suite, suiteRoot: string, endpoint: EndpointRequest) => Promise<ClosableAgent>;
  /** Scorers of a suite's own, their modules as they are now. Who asks releases them. */
  createScorers: (configs: readonly CustomScorerConfig[], suiteRoot: string) => CustomScorers;
  loadPrompts: (folder: string | null, language: 'en' | 'zh') => Promise<PromptSet>;
  /** Milliseconds since the epoch, for dates; durations are taken from `clock`. */
  now: () => number;
  /** Milliseconds that only grow, whatever the machine's clock is set to. */
  clock: () => number;
  /** Where suites of schedules are looked up. */
  cwd: string;
}
