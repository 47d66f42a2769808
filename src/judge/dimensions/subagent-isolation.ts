import type { EvalCase, SubAgentDefinition } from '../../core/case.ts';
import { queryOf } from '../../core/case.ts';
import { canonicalJson } from '../../core/json.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { listed, stepsOf, subAgentSteps } from '../subject/steps.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { BINARY_SCALE } from './scales.ts';

/** Did main agent and sub-agents stay apart as declared: 0 or 1 (docs/judge.md). */
export const subagentIsolation: DimensionSpec = {
  name: 'subagent_isolation',
  ...BINARY_SCALE,
  variables: promptVariables({
    required: ['main_steps', 'sub_steps', 'declared'],
    optional: ['query', 'criteria', 'answer'],
    fromAgent: ['main_steps', 'sub_steps', 'answer'],
  }),
  content: ({ evalCase, trajectory, subAgents }) => ({
    query: queryOf(evalCase),
    main_steps: stepsOf(trajectory),
    sub_steps: subAgentSteps(trajectory.sub_agents),
    declared: listed(declaredOf(evalCase, subAgents).map((declared) => canonicalJson(declared))),
    criteria: criteriaOf(evalCase),
    answer: trajectory.answer,
  }),
  // Every rule would hold for want of anything that could break it.
  notRecorded: ({ trajectory }) => (trajectory.sub_agents.length === 0 ? 'no sub-agent was dispatched' : null),
};

/** The case's sub-agents, a name standing for the suite's of that name; else all of the suite. */
function declaredOf(evalCase: EvalCase, shared: readonly SubAgentDefinition[]): (string | SubAgentDefinition)[] {
  const own = evalCase.context?.sub_agents ?? shared;
  return own.map((one) => (typeof one === 'string' ? (shared.find(({ name }) => name === one) ?? one) : one));
}
