import type { NewEvaluation } from '../../db/create-evaluation.ts';
import { trialsOf } from '../../db/create-evaluation.ts';
import { judgeDimensionsFor } from '../../scorers/index.ts';
import { judgeName, judgesOf, votesOf } from '../../core/suite.ts';
import { formatMoney, plural } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';

/** Tokens of a call nobody has made yet: a rough figure for the estimate, printed as such. */
const ASSUMED = { agentInput: 1_500, agentOutput: 300, judgeInput: 1_000, judgeOutput: 150 };

/** Prints what a run would do. Nothing is started, nothing is stored. */
export function printDryRun(context: CommandContext, wanted: NewEvaluation, json: boolean): void {
  const { suite } = wanted;
  let trials = 0;
  let agentCalls = 0;
  let judgeCalls = 0;
  for (const one of wanted.cases) {
    const repetitions = trialsOf(one, suite);
    trials += repetitions;
    agentCalls += repetitions * (1 + Math.min(1, one.expected.calls?.length ?? 0)) * (one.turns?.length ?? 1);
    judgeCalls +=
      repetitions * judgeDimensionsFor(one, suite).length * (suite.judge === null ? 0 : votesOf(suite.judge));
  }
  const agentModel = suite.agent.type === 'openai' ? suite.agent.model : null;
  const cost = estimate(suite.prices[agentModel ?? ''], agentCalls, ASSUMED.agentInput, ASSUMED.agentOutput);
  const judges = suite.judge === null ? [] : judgesOf(suite.judge);
  const judgeCost = judges
    .map(({ model }) =>
      estimate(suite.prices[model], judgeCalls / judges.length, ASSUMED.judgeInput, ASSUMED.judgeOutput),
    )
    .reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
  const total = judgeCalls === 0 ? cost : cost === null || judgeCost === null ? null : cost + judgeCost;
  const plan = {
    suite: suite.name,
    cases: wanted.cases.length,
    trials,
    agent_calls_at_least: agentModel === null ? null : agentCalls,
    judge_calls: judgeCalls,
    concurrency: suite.concurrency,
    offline: wanted.offline,
    cost_estimate_usd: total,
  };
  const nothing = wanted.offline
    ? total === null
      ? '; the scripted model costs nothing'
      : ', as if priced: the scripted model costs nothing'
    : '';
  if (json) {
    context.stdout(`${JSON.stringify(plan, null, 2)}\n`);
    return;
  }
  const money =
    plan.cost_estimate_usd === null
      ? 'unknown (no price for the model; see `prices:`)'
      : `about ${formatMoney(plan.cost_estimate_usd)}`;
  context.stdout(
    [
      `${suite.name}: ${plural(plan.cases, 'case')}, ${plural(trials, 'trial')}, ${suite.concurrency} at a time`,
      `  agent calls  ${agentModel === null ? 'the module decides' : `at least ${agentCalls} (${agentModel})`}`,
      `  judge calls  ${judgeCalls}${suite.judge === null ? '' : ` (${judgeName(suite.judge)})`}`,
      `  cost         ${money}${nothing}`,
      '',
    ].join('\n'),
  );
}

function estimate(
  price: { input: number; output: number } | undefined,
  calls: number,
  input: number,
  output: number,
): number | null {
  return price === undefined ? null : (calls * (input * price.input + output * price.output)) / 1_000_000;
}
