import type { CaseResult, JudgeRounds, JudgeVariance, TrialRecord } from '../core/evaluation.ts';

/** Sums of one case and dimension over trials in the order of their index; null where nothing was judged more than once. */
function roundsOf(trials: readonly TrialRecord[], scorer: string): JudgeRounds {
  const judged = trials
    .map((trial) => trial.scores.find((score) => score.scorer === scorer)?.rounds ?? [])
    .map((rounds) => rounds.filter((value) => value !== null))
    .filter((rounds) => rounds.length > 0)
    .map((values) => ({ values, mean: values.reduce((sum, value) => sum + value, 0) / values.length }));
  const verdicts = judged.reduce((sum, { values }) => sum + values.length, 0);
  const grand = judged.reduce((sum, { values, mean }) => sum + values.length * mean, 0) / Math.max(1, verdicts);
  const rounds: JudgeRounds = {
    trials: judged.length,
    verdicts,
    differing: 0,
    within: 0,
    between: 0,
    weight: verdicts,
  };
  for (const { values, mean } of judged) {
    if (values.some((value) => value !== values[0])) rounds.differing += 1;
    for (const value of values) rounds.within += (value - mean) ** 2;
    rounds.between += values.length * (mean - grand) ** 2;
    rounds.weight -= values.length ** 2 / verdicts;
  }
  return rounds;
}

/** By judge dimension, for trials that were judged more than once; undefined when there are none. */
export function judgeRoundsOf(trials: readonly TrialRecord[]): Record<string, JudgeRounds> | undefined {
  const names = new Set(
    trials.flatMap(({ scores }) => scores.flatMap(({ scorer, rounds }) => (rounds ? [scorer] : []))),
  );
  if (names.size === 0) return undefined;
  return Object.fromEntries([...names].sort().map((name) => [name, roundsOf(trials, name)]));
}

/**
 * The judge's variance apart from the agent's: a nested random model x = case + trial + judging, its parts estimated by
 * the method of moments (Searle, Casella and McCulloch 1992, ch. 3 and 5; unequal numbers allowed). With m_ij verdicts of
 * trial j of case i and N_i of case i:
 * - judge = Σ (x − mean of the trial)² ÷ Σ (m_ij − 1)
 * - agent = (between − judge) ÷ m0, between = Σ m_ij (mean of the trial − mean of the case)² ÷ Σ (trials_i − 1),
 *   m0 = Σ (N_i − Σ m_ij² ÷ N_i) ÷ Σ (trials_i − 1); below 0 it is 0
 * Null where nothing is left to estimate it from: one verdict a trial, one trial a case.
 */
export function createJudgeVariance(): { add(result: CaseResult): void; finish(): JudgeVariance[] | undefined } {
  const sums = new Map<string, JudgeRounds & { cases: number }>();
  return {
    add(result) {
      for (const [dimension, rounds] of Object.entries(result.judge_rounds ?? {})) {
        if (rounds.trials === 0) continue;
        const sum = sums.get(dimension) ?? NOTHING();
        sum.cases += 1;
        for (const key of ['trials', 'verdicts', 'differing', 'within', 'between', 'weight'] as const)
          sum[key] += rounds[key];
        sums.set(dimension, sum);
      }
    },
    finish() {
      if (sums.size === 0) return undefined;
      return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([dimension, sum]) => varianceOf(dimension, sum));
    },
  };
}

const NOTHING = (): JudgeRounds & { cases: number } => ({
  cases: 0,
  trials: 0,
  verdicts: 0,
  differing: 0,
  within: 0,
  between: 0,
  weight: 0,
});

/** Of scores in [0,1], a variance below this is what rounding leaves of 0: the mean of equal numbers may differ in its last bit. */
const NOISE = 1e-15;

function withoutNoise(variance: number): number {
  return variance < NOISE ? 0 : variance;
}

function varianceOf(dimension: string, sum: JudgeRounds & { cases: number }): JudgeVariance {
  const { cases, trials, verdicts, differing } = sum;
  const judge = verdicts === trials ? null : withoutNoise(sum.within / (verdicts - trials));
  const free = trials - cases;
  const agent = judge === null || free === 0 ? null : withoutNoise((sum.between / free - judge) / (sum.weight / free));
  const all = judge === null || agent === null ? null : judge + agent;
  return {
    dimension,
    cases,
    trials,
    verdicts,
    differing_trials: differing,
    judge_variance: judge,
    agent_variance: agent,
    judge_share: all === null || judge === null || all === 0 ? null : judge / all,
  };
}
