import type { Calibration } from '../core/calibration.ts';
import type {
  CaseResult,
  Comparison,
  EvaluationResult,
  EvaluationStatus,
  GateResult,
  Metric,
  Stop,
  StopKind,
  Verdict,
} from '../core/evaluation.ts';
import { EXIT } from '../core/errors.ts';
import type { Layer } from '../core/trial.ts';
import { cleanText } from './clean.ts';
import { worstCases } from './worst-cases.ts';
import type { WorstCase } from './worst-cases.ts';

/** Cases a report describes one by one. */
const WORST_LIMIT = 10;

/** What is reported on. */
interface ReportEvaluation {
  evaluation_id: string;
  suite: string;
  kind: string;
  /** The agent as a reader knows it: model or module. */
  agent: string;
  agent_version: string | null;
  /** Judge model; null without a judge. */
  judge: string | null;
  status: EvaluationStatus;
  stop: Stop | null;
  /** ISO 8601; null before the first trial. */
  started_at: string | null;
  ended_at: string | null;
  labels: Record<string, string>;
  /** True when the suite's scripted model answered: money is what its prices would make it. Default false. */
  offline?: boolean;
  /** The evaluation whose trajectories were scored; absent when the agent was run. */
  source?: string;
}

export interface NextStep {
  what: string;
  command: string;
}

/** Calls of one tool that no mock answered: a fixture is missing, or the agent called what nobody foresaw. */
interface UnmatchedCalls {
  tool: string;
  calls: number;
  cases: number;
  /** The first few. */
  case_ids: string[];
}

export interface ReportInput {
  evaluation: ReportEvaluation;
  result: EvaluationResult;
  /** Cases that did not pass, at least the worst ones; others are passed over. Read once. */
  cases: Iterable<CaseResult>;
  comparison: Comparison | null;
  /** Label of the baseline compared with, if any. */
  baseline_label: string | null;
  gates: GateResult[];
  verdict: Verdict;
  /** Tools whose calls no mock answered, most calls first. Default: none. */
  unmatched_calls?: UnmatchedCalls[];
  /** The judge against human labels. Default: null, there are none. */
  calibration?: Calibration | null;
  /** Added after the report's own next steps, e.g. where the Temporal UI is. */
  next_steps?: NextStep[];
}

/** A group that passes less than all of its cases. */
interface WeakGroup {
  by: 'category' | 'dimension' | 'difficulty';
  name: string;
  passed: number;
  cases: number;
}

/** Everything a report says, in data: every format is a view of it. Key names are stable within a schema version. */
export interface ReportModel {
  schema: 'assay.report/1';
  evaluation: ReportEvaluation;
  verdict: Verdict & { word: 'PASSED' | 'FAILED' | 'INCOMPLETE' | 'STOPPED' };
  /** Wall time, milliseconds; null while running. */
  duration_ms: number | null;
  result: EvaluationResult;
  /** Where failures are: failed trials by layer, and the weakest groups. */
  where: { failed_trials: number; layers: { layer: Layer; trials: number }[]; groups: WeakGroup[] };
  worst: WorstCase[];
  /** Cases that did not pass. */
  not_passed: number;
  /** What to do about it, the most urgent first. */
  actions: { layer: string; text: string; case_ids: string[] }[];
  comparison: Comparison | null;
  baseline_label: string | null;
  gates: GateResult[];
  /** The judge against human labels; null without labels. */
  calibration: Calibration | null;
  unmatched_calls: UnmatchedCalls[];
  next_steps: NextStep[];
}

function wordOf(verdict: Verdict): ReportModel['verdict']['word'] {
  if (verdict.exit_code === EXIT.ok) return 'PASSED';
  if (verdict.exit_code === EXIT.gateFailed) return 'FAILED';
  return verdict.exit_code === EXIT.infrastructure ? 'STOPPED' : 'INCOMPLETE';
}

function weakGroups(result: EvaluationResult): WeakGroup[] {
  const by = (['category', 'dimension', 'difficulty'] as const).find((one) =>
    result.groups.some((group) => group.by === one),
  );
  if (by === undefined) return [];
  return result.groups
    .filter((group) => group.by === by)
    .map((group) => {
      const rate: Metric | undefined = group.metrics.find((metric) => metric.metric === 'case_pass_rate');
      const scored = rate?.cases ?? 0;
      return { by, name: cleanText(group.name), passed: Math.round((rate?.value ?? 0) * scored), cases: scored };
    })
    .filter((group) => group.passed < group.cases)
    .sort((a, b) => a.passed / a.cases - b.passed / b.cases || b.cases - a.cases);
}

/** What helps a layer that breaks in single cases, before it shows in the means the diagnosis reads. */
const LAYER_ACTIONS: Record<Layer, string> = {
  L1: 'Read the plans of these cases; make task decomposition explicit in the system prompt.',
  L2: 'Compare the calls with the expected ones; state conditions of use and argument examples in the tool descriptions.',
  L3: 'The calls are right or nearly so; the outcome, or the way to it, is not: read the answers against the criteria.',
};

/** Stops whose message tells how to mend the model endpoint. */
const ENDPOINT_STOPS: ReadonlySet<StopKind> = new Set([
  'unauthorized',
  'forbidden',
  'quota',
  'model_not_found',
  'endpoint_unreachable',
]);

function actionsOf(input: ReportInput, worst: readonly WorstCase[]): ReportModel['actions'] {
  const unsafe = worst.filter((one) => one.violations > 0).map((one) => one.case_id);
  const actions: ReportModel['actions'] = [];
  if (unsafe.length > 0) {
    actions.push({
      layer: 'safety',
      text: 'Mend the safety violations first; nothing loosens this gate.',
      case_ids: unsafe,
    });
  }
  const { evaluation_id, stop } = input.evaluation;
  const mending = stop !== null && ENDPOINT_STOPS.has(stop.kind);
  if (mending) {
    const text = `Mend what stopped it (it says how, above), then: assay resume ${evaluation_id}`;
    actions.push({ layer: 'stopped', text, case_ids: [] });
  }
  for (const { layer, action, case_ids } of input.result.diagnosis) {
    // Said already, and more exactly.
    if (!(mending && layer === 'infrastructure')) actions.push({ layer, text: action, case_ids });
  }
  const { layers } = input.result;
  const dominant = (['L1', 'L2', 'L3'] as const).reduce(
    (most, layer) => (layers[layer] > layers[most] ? layer : most),
    'L1',
  );
  if (layers[dominant] > 0 && !actions.some((action) => action.layer === dominant)) {
    const case_ids = worst.filter((one) => one.layer === dominant).map((one) => one.case_id);
    actions.push({ layer: dominant, text: LAYER_ACTIONS[dominant], case_ids });
  }
  return actions;
}

function nextSteps(input: ReportInput, worst: readonly WorstCase[]): NextStep[] {
  const { evaluation, result, verdict } = input;
  const id = evaluation.evaluation_id;
  const steps: NextStep[] = [];
  const first = worst[0];
  const quoted = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  if (first !== undefined) {
    // The trial the first reason speaks of: the most frequent failure.
    const trial = first.reasons[0]?.trial_indexes[0];
    steps.push({
      what: 'The worst case, step by step',
      command: `assay show ${id} ${quoted(first.case_id)}${trial === undefined ? '' : ` ${trial}`}`,
    });
  }
  const { unscored, errored, canceled, missing } = result.counts;
  if (missing + canceled > 0) steps.push({ what: 'Go on with what is missing', command: `assay resume ${id}` });
  if (unscored + errored > 0) steps.push({ what: 'Run again what has no verdict', command: `assay retry ${id}` });
  if (verdict.exit_code === EXIT.ok && input.comparison === null) {
    steps.push({ what: 'Compare later runs with this one', command: `assay baseline set ${id}` });
  }
  if (evaluation.source !== undefined) {
    steps.push({ what: 'Compare with its source', command: `assay compare ${evaluation.source} ${id}` });
  }
  return [...steps, ...(input.next_steps ?? [])];
}

function durationOf({ started_at, ended_at }: ReportEvaluation): number | null {
  if (started_at === null || ended_at === null) return null;
  const ms = Date.parse(ended_at) - Date.parse(started_at);
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Puts together what a report says. Pure; holds no more than {@link WORST_LIMIT} cases, however many there are. */
export function buildReport(input: ReportInput): ReportModel {
  const worst = worstCases(input.cases, WORST_LIMIT);
  const { case_outcomes, layers, counts } = input.result;
  return {
    schema: 'assay.report/1',
    evaluation: input.evaluation,
    verdict: { ...input.verdict, word: wordOf(input.verdict) },
    duration_ms: durationOf(input.evaluation),
    result: input.result,
    where: {
      failed_trials: counts.failed,
      layers: (['L1', 'L2', 'L3'] as const).map((layer) => ({ layer, trials: layers[layer] })),
      groups: weakGroups(input.result),
    },
    worst,
    not_passed: case_outcomes.failed + case_outcomes.flaky + case_outcomes.unscored,
    actions: actionsOf(input, worst),
    comparison: input.comparison,
    baseline_label: input.baseline_label,
    gates: input.gates,
    calibration: input.calibration ?? null,
    unmatched_calls: (input.unmatched_calls ?? []).map((one) => ({
      ...one,
      tool: cleanText(one.tool),
      case_ids: one.case_ids.map(cleanText),
    })),
    next_steps: nextSteps(input, worst),
  };
}
