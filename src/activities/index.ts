import { boundedRetries } from './bounded-retries.ts';
import { createAggregate } from './aggregate.ts';
import { createCheckIsolation } from './check-isolation.ts';
import { createCompareBaseline } from './compare-baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { createEndEvaluation, createFailEvaluation } from './end-evaluation.ts';
import { createContexts } from './evaluation-context.ts';
import { createHandOver } from './hand-over.ts';
import { createJudgeTrial } from './judge-trial.ts';
import { createLoadMissing, createPrepare } from './plan.ts';
import { createRunAgent } from './run-agent.ts';
import { createSnapshotSuite } from './snapshot-suite.ts';

/** Every step the workflows name. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- its inferred type is the contract of the workflows
export function createActivities(deps: ActivityDeps) {
  const contextOf = createContexts(deps);
  const handOver = createHandOver();
  return {
    prepare: boundedRetries(createPrepare(deps)),
    loadMissing: boundedRetries(createLoadMissing(deps)),
    runAgent: boundedRetries(createRunAgent(deps, contextOf, handOver)),
    checkIsolation: boundedRetries(createCheckIsolation(deps, contextOf, handOver)),
    judgeTrial: boundedRetries(createJudgeTrial(deps, contextOf, handOver)),
    aggregate: boundedRetries(createAggregate(deps)),
    compareBaseline: boundedRetries(createCompareBaseline(deps)),
    endEvaluation: boundedRetries(createEndEvaluation(deps)),
    failEvaluation: createFailEvaluation(deps),
    snapshotSuite: createSnapshotSuite(deps),
  };
}
