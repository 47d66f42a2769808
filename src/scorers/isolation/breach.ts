import type { EvalCase } from '../../core/case.ts';
import type { SubAgentRun, Trajectory } from '../../core/trajectory.ts';
import type { ScoringSuite } from '../scorer.ts';

/** The rules of isolation, by the names used in reasons, in the order they are reported. */
export const ISOLATION_RULES = [
  'steps_in_main',
  'messages_in_main',
  'timeout',
  'max_dispatches',
  'shared_state',
  'canary_passed',
  'foreign_tool',
] as const;
export type IsolationRule = (typeof ISOLATION_RULES)[number];

/** One rule broken by one dispatch. */
export interface IsolationBreach {
  rule: IsolationRule;
  /** The dispatch, as {@link runName} calls it. */
  run: string;
  reason: string;
}

/** What a rule looks at. */
export interface IsolationInput {
  evalCase: EvalCase;
  trajectory: Trajectory;
  suite: Pick<ScoringSuite, 'sub_agents'>;
}

/** Broken places, or null when the record does not say what the rule needs. */
export type IsolationCheck = (input: IsolationInput) => IsolationBreach[] | null;

/** Texts shorter than this may stand in two places by chance. */
const SHORTEST_TELLING = 12;

/** `helper` or, where it was dispatched several times, `helper (dispatch 2)`. */
export function runName(run: SubAgentRun, runs: readonly SubAgentRun[]): string {
  const same = runs.filter(({ name }) => name === run.name);
  return same.length < 2 ? run.name : `${run.name} (dispatch ${same.indexOf(run) + 1})`;
}

/** True for a text long enough to be known again. */
export function isTelling(text: string | null | undefined): text is string {
  return typeof text === 'string' && text.trim().length >= SHORTEST_TELLING;
}

/** What a sub-agent said and was answered on the way, without what it returned: nobody else may have it. */
export function privateTexts(run: SubAgentRun): string[] {
  const public_ = [run.output ?? '', run.input];
  return (run.messages ?? [])
    .filter(({ role }) => role === 'assistant' || role === 'tool')
    .map(({ content }) => content)
    .filter(isTelling)
    .filter((text) => !public_.some((known) => known.includes(text.trim())));
}
