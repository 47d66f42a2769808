import type { Calibration } from '../core/calibration.ts';
import type { CaseResult, Diagnosis, Metric, NoAnswer, Stability } from '../core/evaluation.ts';
import { atLeast, exceeds } from '../core/score.ts';
import { LAYER_LIMITS } from './layers.ts';
import { createMoments } from './moments.ts';
import { diagnoseNoAnswer, leads } from './no-answer.ts';
import { createWorstList } from './worst-list.ts';
import type { WorstList } from './worst-list.ts';

/** Case ids a diagnosis lists at most. */
const DIAGNOSIS_CASES = 20;
const COMPLETION_LIMIT = 0.8;
const STABILITY_LIMIT = 0.1;
const UNSCORED_LIMIT = 0.02;

interface DiagnosisFacts {
  metrics: ReadonlyMap<string, Metric>;
  stability: Stability | null;
  unscoredShare: number;
  noAnswer: NoAnswer | undefined;
  plannedTrials: number;
  failedTrials: number;
}

/** Means over cases that leave out trials without an answer; null where no trial is left. */
type Answered = Record<'plan_quality' | 'tool_score', number | null>;

export interface DiagnosisAccumulator {
  add(result: CaseResult): void;
  finish(facts: DiagnosisFacts): Diagnosis[];
}

type Lists = Record<'plan' | 'tool' | 'efficiency' | 'flaky' | 'unscored' | 'undecided', WorstList>;

/** Unscored trials that no judge and no retry can help: nothing in their case decides. */
function undecidedTrials({ failures, error_kinds }: CaseResult): number {
  const without = failures.filter(({ status, scorer }) => status === 'unscored' && scorer === null).length;
  return Math.min(without, error_kinds['unscored'] ?? 0);
}

function withoutVerdict(
  facts: DiagnosisFacts,
  undecided: number,
  lists: Lists,
): [Omit<Diagnosis, 'case_ids' | 'cases'>, WorstList][] {
  const share = undecided / Math.max(1, facts.plannedTrials);
  const found: [Omit<Diagnosis, 'case_ids' | 'cases'>, WorstList][] = [];
  if (exceeds(share, UNSCORED_LIMIT)) {
    const symptom = `no score decides ${percent(share)} of the trials`;
    const action =
      'Say what is right in these cases (expected.match, an outcome check, or criteria with a judge), or name scores in decides; then assay rescore.';
    found.push([{ layer: 'suite', symptom, action }, lists.undecided]);
  }
  if (exceeds(facts.unscoredShare - share, UNSCORED_LIMIT)) {
    const symptom = `${percent(facts.unscoredShare)} of the trials have no verdict`;
    const action = 'Look at the judge and the infrastructure, then retry these trials; the agent is not to blame.';
    found.push([{ layer: 'infrastructure', symptom, action }, lists.unscored]);
  }
  return found;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function planning(plan: number, completion: number | null): Omit<Diagnosis, 'case_ids' | 'cases'> {
  const symptom = `plan quality ${plan.toFixed(2)} is under ${LAYER_LIMITS.plan}`;
  return completion !== null && !atLeast(completion, COMPLETION_LIMIT)
    ? {
        layer: 'L1',
        symptom: `${symptom}, and completion is ${percent(completion)}`,
        action: 'Mend the prompt, not the tools: more tools do not help while the plan is wrong.',
      }
    : { layer: 'L1', symptom, action: 'Make task decomposition explicit in the system prompt.' };
}

function tools(tool: number, completion: number | null): Omit<Diagnosis, 'case_ids' | 'cases'> {
  const symptom = `tool score ${tool.toFixed(2)} is under ${LAYER_LIMITS.tool}`;
  const action =
    'Put conditions of use and argument examples into the tool descriptions; validate arguments before the call.';
  return completion !== null && atLeast(completion, COMPLETION_LIMIT)
    ? { layer: 'L2', symptom: `${symptom} although ${percent(completion)} of the tasks are completed`, action }
    : { layer: 'L2', symptom, action };
}

/** The rules of docs/statistics.md, "Diagnosis", over the aggregates of one evaluation. */
function findings(facts: DiagnosisFacts, answered: Answered, undecided: number, lists: Lists): Diagnosis[] {
  const value = (metric: string): number | null => facts.metrics.get(metric)?.value ?? null;
  const found: Diagnosis[] = [];
  const push = (finding: Omit<Diagnosis, 'case_ids' | 'cases'>, list: WorstList | null): void => {
    found.push({ ...finding, case_ids: list?.ids() ?? [], cases: list?.count() ?? 0 });
  };
  const completion = value('completion_rate');
  const { plan_quality: plan, tool_score: tool } = answered;
  const efficiency = value('step_efficiency');
  if (plan !== null && !atLeast(plan, LAYER_LIMITS.plan)) push(planning(plan, completion), lists.plan);
  if (tool !== null && !atLeast(tool, LAYER_LIMITS.tool)) push(tools(tool, completion), lists.tool);
  if (
    completion !== null &&
    exceeds(completion, COMPLETION_LIMIT) &&
    efficiency !== null &&
    !atLeast(efficiency, LAYER_LIMITS.efficiency)
  ) {
    const symptom = `step efficiency ${efficiency.toFixed(2)} is under ${LAYER_LIMITS.efficiency} while tasks succeed`;
    push({ layer: 'L3', symptom, action: 'Lead to the direct path; remove redundant calls.' }, lists.efficiency);
  }
  const stdev = facts.stability?.stdev ?? null;
  if (stdev !== null && exceeds(stdev, STABILITY_LIMIT)) {
    const symptom = `completion moves between repetitions: stdev ${stdev.toFixed(2)} is over ${STABILITY_LIMIT}`;
    const action = 'Look at tool timeouts and nondeterministic dependencies; add cases.';
    push({ layer: 'all', symptom, action }, lists.flaky);
  }
  for (const [finding, list] of withoutVerdict(facts, undecided, lists)) push(finding, list);
  const broken = diagnoseNoAnswer(facts.noAnswer, facts.plannedTrials);
  if (broken === null || facts.noAnswer === undefined) return found;
  return leads(facts.noAnswer, facts.failedTrials) ? [broken, ...found] : [...found, broken];
}

/** Collects the cases behind each rule while cases stream by. */
export function createDiagnosis(): DiagnosisAccumulator {
  const list = (): WorstList => createWorstList(DIAGNOSIS_CASES);
  const lists: Lists = {
    plan: list(),
    tool: list(),
    efficiency: list(),
    flaky: list(),
    unscored: list(),
    undecided: list(),
  };
  let undecided = 0;
  const means = { plan_quality: createMoments(), tool_score: createMoments() };
  return {
    add(result) {
      const below = (target: WorstList, metric: string, limit: number): void => {
        const mean = meanOf(result, metric);
        if (mean !== null && !atLeast(mean, limit)) target.add(result.case_id, -mean);
      };
      below(lists.plan, 'plan_quality', LAYER_LIMITS.plan);
      below(lists.tool, 'tool_score', LAYER_LIMITS.tool);
      below(lists.efficiency, 'step_efficiency', LAYER_LIMITS.efficiency);
      const stdev = result.metrics['completion_rate']?.stdev ?? null;
      if (stdev !== null && stdev > 0) lists.flaky.add(result.case_id, stdev);
      for (const metric of ['plan_quality', 'tool_score'] as const) {
        const mean = meanOf(result, metric);
        if (mean !== null) means[metric].add(mean);
      }
      const scored = result.passed_trials + result.failed_trials;
      const open = undecidedTrials(result);
      undecided += open;
      if (open > 0) lists.undecided.add(result.case_id, open);
      const lost = result.trials - scored - open;
      if (lost > 0) lists.unscored.add(result.case_id, lost);
    },
    finish: (facts) =>
      findings(
        facts,
        { plan_quality: means.plan_quality.moments().mean, tool_score: means.tool_score.moments().mean },
        undecided,
        lists,
      ),
  };
}

/** The mean of a case, without the trials that broke off where the reducer told them apart. */
function meanOf(result: CaseResult, metric: string): number | null {
  const { answered } = result;
  if (answered !== undefined && (metric === 'plan_quality' || metric === 'tool_score')) return answered[metric];
  return result.metrics[metric]?.mean ?? null;
}

/** What human labels say of the judge (docs/statistics.md, "Diagnosis"): one line a dimension whose rubric needs work. */
export function diagnoseRubric({ groups, limit }: Calibration): Diagnosis[] {
  return groups
    .filter((group) => group.needs_work)
    .map(({ dimension, agreement, disagreements }) => {
      const cases = [...new Set(disagreements.map(({ case_id }) => case_id))];
      return {
        layer: 'rubric',
        symptom: `the judge of ${dimension} agrees with ${percent(agreement?.agreement?.value ?? 0)} of the human labels, under ${percent(limit)}`,
        action: 'Make the rubric checkable; look at the cases they disagree on.',
        case_ids: cases.slice(0, DIAGNOSIS_CASES),
        cases: cases.length,
      };
    });
}
