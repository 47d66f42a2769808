import type { CaseResult, TrialFailure } from '../core/evaluation.ts';
import type { Layer } from '../core/trial.ts';
import { cleanText } from './clean.ts';

/** A case that did not pass, with why. */
export interface WorstCase {
  case_id: string;
  category: string | null;
  difficulty: string | null;
  outcome: CaseResult['outcome'];
  passed_trials: number;
  /** Trials with a verdict. */
  scored_trials: number;
  trials: number;
  violations: number;
  layer: Layer | null;
  /** Distinct reasons, the most frequent first, with the trials they were met in. */
  reasons: WorstReason[];
}

interface WorstReason {
  scorer: string | null;
  status: TrialFailure['status'];
  reason: string;
  first_wrong_step: string | null;
  trial_indexes: number[];
}

const OUTCOMES: readonly CaseResult['outcome'][] = ['failed', 'flaky', 'unscored', 'passed'];

function passShare(result: CaseResult): number {
  const scored = result.passed_trials + result.failed_trials;
  return scored === 0 ? 1 : result.passed_trials / scored;
}

/** Order of cases, worst first: violations, outcome, share of trials passed, tool score, id. */
function worstFirst(a: CaseResult, b: CaseResult): number {
  const tool = (result: CaseResult): number => result.metrics['tool_score']?.mean ?? 1;
  return (
    b.violations - a.violations ||
    OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome) ||
    passShare(a) - passShare(b) ||
    tool(a) - tool(b) ||
    (a.case_id < b.case_id ? -1 : 1)
  );
}

function reasonsOf(failures: readonly TrialFailure[]): WorstReason[] {
  const byText = new Map<string, WorstReason>();
  for (const failure of failures) {
    const reason = cleanText(failure.reason);
    const step = failure.first_wrong_step === null ? null : cleanText(failure.first_wrong_step);
    const key = JSON.stringify([failure.status, failure.scorer, reason, step]);
    const known = byText.get(key);
    if (known === undefined) {
      const { scorer, status, trial_index } = failure;
      byText.set(key, { scorer, status, reason, first_wrong_step: step, trial_indexes: [trial_index] });
    } else {
      known.trial_indexes.push(failure.trial_index);
    }
  }
  // What the agent did comes before what the infrastructure did.
  const agent = (reason: WorstReason): number => (reason.status === 'failed' ? 0 : 1);
  return [...byText.values()].sort((a, b) => agent(a) - agent(b) || b.trial_indexes.length - a.trial_indexes.length);
}

function worstCaseOf(result: CaseResult): WorstCase {
  return {
    case_id: cleanText(result.case_id),
    category: result.category === null ? null : cleanText(result.category),
    difficulty: result.difficulty,
    outcome: result.outcome,
    passed_trials: result.passed_trials,
    scored_trials: result.passed_trials + result.failed_trials,
    trials: result.trials,
    violations: result.violations,
    layer: result.layer,
    reasons: reasonsOf(result.failures),
  };
}

/** The worst cases of those given that did not pass, worst first. */
export function worstCases(cases: Iterable<CaseResult>, limit: number): WorstCase[] {
  const worst: CaseResult[] = [];
  for (const result of cases) {
    if (result.outcome === 'passed' && result.violations === 0) continue;
    const last = worst.at(-1);
    if (worst.length === limit && last !== undefined && worstFirst(last, result) <= 0) continue;
    const place = worst.findIndex((kept) => worstFirst(result, kept) < 0);
    worst.splice(place === -1 ? worst.length : place, 0, result);
    if (worst.length > limit) worst.pop();
  }
  return worst.map(worstCaseOf);
}
