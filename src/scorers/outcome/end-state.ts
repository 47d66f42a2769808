import type { Criterion } from './criterion.ts';
import { checkPath } from './path-check.ts';
import type { ScoringInput } from '../scorer.ts';

/** One criterion for each `expected.state` path, on the mock world's state at the end. Not known when none was recorded. */
export function endState({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const { end_state: state } = trajectory;
  return (evalCase.expected.state ?? []).map((check) =>
    state === null
      ? { holds: null, reason: `state ${check.path}: no end state was recorded` }
      : checkPath(state, check, 'state'),
  );
}
