import type { Scorer } from '../scorer.ts';
import { ISOLATION_RULES, type IsolationCheck, type IsolationRule } from './breach.ts';
import { canaryPassed, foreignTool, maxDispatches, timeout } from './dispatches.ts';
import { messagesInMain, sharedState, stepsInMain } from './leaks.ts';

const CHECKS: Record<IsolationRule, IsolationCheck> = {
  steps_in_main: stepsInMain,
  messages_in_main: messagesInMain,
  timeout,
  max_dispatches: maxDispatches,
  shared_state: sharedState,
  canary_passed: canaryPassed,
  foreign_tool: foreignTool,
};

/**
 * Isolation of sub-agents, from the record alone: 1 when no rule is broken, else 0, with every broken rule, the dispatch and
 * the place named. A rule whose evidence the agent does not report is listed in `details.not_checked`. Null where the case is
 * about isolation and nothing was dispatched; no score where it is not.
 */
export const subagentIsolation: Scorer = ({ evalCase, trajectory, suite }) => {
  const runs = trajectory.sub_agents.length;
  const base = { scorer: 'subagent_isolation', dimension: 'subagent_isolation' };
  if (runs === 0) {
    if (evalCase.dimension !== 'subagent_isolation') return [];
    return [{ ...base, value: null, passed: null, reason: 'not scored: no sub-agent was dispatched', details: null }];
  }
  const results = ISOLATION_RULES.map((rule) => ({ rule, breaches: CHECKS[rule]({ evalCase, trajectory, suite }) }));
  const unseen = results.filter(({ breaches }) => breaches === null).map(({ rule }) => rule);
  const breaches = results.flatMap((result) => result.breaches ?? []);
  const rules = [...new Set(breaches.map(({ rule }) => rule))];
  const [first] = breaches;
  const unsaid = unseen.length === 0 ? '' : `; not recorded, so not checked: ${unseen.join(', ')}`;
  const held = `${ISOLATION_RULES.length - unseen.length} rules hold over ${runs} ${runs === 1 ? 'dispatch' : 'dispatches'}${unsaid}`;
  const more = breaches.length > 1 ? ` (and ${breaches.length - 1} more: ${rules.join(', ')})` : '';
  return [
    {
      ...base,
      value: first === undefined ? 1 : 0,
      passed: first === undefined,
      reason: first === undefined ? held : `${first.rule}: ${first.reason}${more}`,
      details: { rules, breaches: breaches.slice(0, 20).map((breach) => ({ ...breach })), not_checked: unseen },
    },
  ];
};
