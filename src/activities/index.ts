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
import { createSnapshotSuite } from './snapshot-suite.ts';

/** Every step the workflows name. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- its inferred type is the contract of the workflows
export function createActivities(deps: ActivityDeps) {
  const contextOf = createContexts(deps);
  const handOver = createHandOver();
  const judgeTrial = createJudgeTrial(deps, contextOf, handOver);
  const runAgent = judgeAtOnce(deps, { runAgent: createRunAgent(deps, contextOf, handOver), judgeTrial }, handOver);
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
