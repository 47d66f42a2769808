import { answerJson } from './answer-json.ts';
import { answerContains, answerEquals, answerMatches, answerNotContains } from './answer-text.ts';
import { scoreOfCriteria } from './criterion.ts';
import type { Criterion } from './criterion.ts';
import { endState } from './end-state.ts';
import { finalStatus } from './final-status.ts';
import { numberInAnswer } from './number-in-answer.ts';
import type { ScoreDraft, Scorer, ScoringInput } from '../scorer.ts';

/** Outcome checks by scorer name, in the order they are reported. */
const CHECKS: readonly { scorer: string; criteria: (input: ScoringInput) => Criterion[] }[] = [
  { scorer: 'answer_contains', criteria: answerContains },
  { scorer: 'answer_not_contains', criteria: answerNotContains },
  { scorer: 'answer_matches', criteria: answerMatches },
  { scorer: 'answer_equals', criteria: answerEquals },
  { scorer: 'answer_json', criteria: answerJson },
  { scorer: 'number', criteria: numberInAnswer },
  { scorer: 'final_status', criteria: finalStatus },
  { scorer: 'state', criteria: endState },
];

export const OUTCOME_SCORERS: ReadonlySet<string> = new Set(CHECKS.map(({ scorer }) => scorer));

/** The outcome checks of a case, one score each, and task_completion from all their criteria together. */
export const outcome: Scorer = (input) => {
  const checks = CHECKS.map(({ scorer, criteria }) => ({ scorer, criteria: criteria(input) }));
  const all = checks.flatMap(({ criteria }) => criteria);
  if (all.length === 0) return [];
  return [...checks.flatMap(({ scorer, criteria }) => scoreOfCriteria(scorer, criteria)), completion(all)];
};

/** All criteria hold: success, 1 · some: partial, 0.5 · none: failure, 0 · not decided by what is known: null. */
function completion(criteria: readonly Criterion[]): ScoreDraft {
  const holding = criteria.filter(({ holds }) => holds === true).length;
  const failing = criteria.filter(({ holds }) => holds === false);
  const outcome = completionOutcome(criteria.length, holding, failing.length);
  const why = failing[0] ?? criteria.find(({ holds }) => holds === null);
  const share = `${holding} of ${criteria.length} criteria hold`;
  return {
    scorer: 'task_completion',
    dimension: 'task_completion',
    value: outcome.value,
    passed: outcome.value === null ? (failing.length > 0 ? false : null) : outcome.value === 1,
    reason: `${outcome.word}: ${share}${why === undefined ? '' : `; ${why.reason}`}`,
    details: { judged_by: 'criteria', outcome: outcome.word, criteria: criteria.length, holding },
  };
}

function completionOutcome(all: number, holding: number, failing: number): { word: string; value: number | null } {
  if (holding === all) return { word: 'success', value: 1 };
  if (holding > 0 && failing > 0) return { word: 'partial', value: 0.5 };
  if (failing === all) return { word: 'failure', value: 0 };
  return { word: 'not known', value: null };
}
