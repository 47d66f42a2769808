import { randomUUID } from 'node:crypto';
import { boundedRetries } from './bounded-retries.ts';
import { createAggregate } from './aggregate.ts';
import { createCheckIsolation } from './check-isolation.ts';
import { createCompareBaseline } from './compare-baseline.ts';
import type { ACTIVITY_NAMES } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { createEndEvaluation, createFailEvaluation } from './end-evaluation.ts';
import { createContexts } from './evaluation-context.ts';
import { createHandOver } from './hand-over.ts';
import { judgeAtOnce } from './judge-at-once.ts';
import { createJudgeTrial } from './judge-trial.ts';
import { createLoadMissing, createPrepare } from './plan.ts';
import { createRunAgent } from './run-agent.ts';
import { createPlaces } from './places.ts';
import { createSnapshotSuite } from './snapshot-suite.ts';
import { withinLanes } from './within-lanes.ts';

/** A trial that was handed out early and cannot begin within this time goes back. It sends no heartbeat meanwhile, nor for as long again. */
const PATIENCE_MS = 2_000;

/** Every step the workflows name. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- its inferred type is the contract of the workflows
export function createActivities(deps: ActivityDeps) {
  const contextOf = createContexts(deps);
  const handOver = createHandOver();
  const judgeTrial = createJudgeTrial(deps, contextOf, handOver);
  const steps = { runAgent: createRunAgent(deps, contextOf, handOver), judgeTrial };
  const { heartbeatTimeoutMs, maxActivities: slots } = deps.config;
  const places = createPlaces({ patienceMs: Math.min(PATIENCE_MS, heartbeatTimeoutMs / 4), slots });
  deps.pauses.on('paused', (evaluationId) => places.close({ evaluationId }));
  const runAgent = withinLanes(judgeAtOnce(deps, steps, handOver), {
    readCase: deps.readCase,
    places,
    cancellations: deps.cancellations,
    worker: randomUUID().slice(0, 6),
  });
  return {
    prepare: boundedRetries(createPrepare(deps)),
    loadMissing: boundedRetries(createLoadMissing(deps)),
    runAgent: boundedRetries(runAgent),
    checkIsolation: boundedRetries(createCheckIsolation(deps, contextOf, handOver)),
    judgeTrial: boundedRetries(judgeTrial),
    aggregate: boundedRetries(createAggregate(deps)),
    compareBaseline: boundedRetries(createCompareBaseline(deps)),
    endEvaluation: boundedRetries(createEndEvaluation(deps)),
    failEvaluation: createFailEvaluation(deps),
    snapshotSuite: createSnapshotSuite(deps),
  } satisfies Record<(typeof ACTIVITY_NAMES)[number], unknown>;
}
