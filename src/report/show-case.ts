import { queryOf, type EvalCase } from '../core/case.ts';
import type { CaseResult, EvaluationStatus, TrialScore } from '../core/evaluation.ts';
import type { TrialStatus } from '../core/trial.ts';
import { table } from './align.ts';
import { cleanText } from './clean.ts';
import { formatCount, formatDuration, formatMoney, NONE, some } from './format.ts';
import { jsonLines, labelled, LABEL_WIDTH, type ShowOptions, textLines } from './show-text.ts';
import { createStyle } from './style.ts';

/** One trial as a line of its case. */
interface CaseTrial {
  trial_index: number;
  /** null: not ended. */
  status: TrialStatus | null;
  final_status: string | null;
  iterations: number | null;
  tool_calls: number | null;
  tokens: number | null;
  latency_ms: number | null;
  cost_usd: number | null;
  error: { kind: string; message: string } | null;
  scores: Pick<TrialScore, 'scorer' | 'value' | 'passed' | 'deciding' | 'violation' | 'reason'>[];
}

export interface ShownCase {
  evaluation_id: string;
  /** Of the evaluation: while it runs, a trial without an end is under way; else its end is missing. */
  evaluation_status: EvaluationStatus;
  case_id: string;
  evalCase: EvalCase | null;
  /** null before the evaluation was aggregated. */
  result: CaseResult | null;
  planned: number;
  trials: CaseTrial[];
}

/** A case with its trials and why each did not pass. Ends with a newline. */
export function renderCase(shown: ShownCase, options: ShowOptions): string {
  const style = createStyle(options.color);
  const { result, evalCase } = shown;
  const width = options.width - LABEL_WIDTH;
  const outcome = result === null ? '' : `  ${result.outcome}${result.layer === null ? '' : ` (${result.layer})`}`;
  const facts = [evalCase?.category, evalCase?.difficulty, evalCase?.dimension, ...(evalCase?.tags ?? [])]
    .filter((fact) => fact !== undefined)
    .map(cleanText);
  const lines = [
    `${style('bold', cleanText(shown.case_id))}${outcome}`,
    ...labelled('of', [shown.evaluation_id], 0),
    ...(facts.length === 0 ? [] : labelled('case', textLines(facts.join(' · '), width, true), 0)),
    ...(evalCase === null ? [] : labelled('query', textLines(queryOf(evalCase), width, options.full), 0)),
    ...(evalCase === null ? [] : expectationLines(evalCase, width, options)),
    '',
    ...trialTable(shown.trials, shown.evaluation_status === 'running' ? 'running' : 'missing'),
    ...(shown.trials.length < shown.planned ? [`${shown.planned - shown.trials.length} not started`] : []),
    ...reasonLines(shown.trials, options),
  ];
  return `${lines.join('\n')}\n`;
}

function trialTable(trials: readonly CaseTrial[], unended: 'running' | 'missing'): string[] {
  if (trials.length === 0) return ['no trial was started'];
  return table(
    [
      { title: 'trial', align: 'right' },
      { title: 'status' },
      { title: 'ended as' },
      { title: 'turns', align: 'right' },
      { title: 'calls', align: 'right' },
      { title: 'tokens', align: 'right' },
      { title: 'time', align: 'right' },
      { title: 'cost', align: 'right' },
    ],
    trials.map((trial) => [
      String(trial.trial_index),
      trial.status ?? unended,
      trial.final_status ?? NONE,
      formatCount(trial.iterations),
      formatCount(trial.tool_calls),
      formatCount(trial.tokens),
      formatDuration(trial.latency_ms),
      formatMoney(trial.cost_usd),
    ]),
  );
}

/** What a judge reads of it is prose and stands by itself; the checks are data. */
function expectationLines(evalCase: EvalCase, width: number, options: ShowOptions): string[] {
  const { criteria, ...checks } = evalCase.expected;
  const prose = (label: string, text: string | undefined): string[] =>
    text === undefined ? [] : labelled(label, textLines(text, width, options.full), 0);
  const checked = Object.keys(checks).length > 0;
  return [
    ...(checked ? labelled('expected', jsonLines(checks, width, options.full), 0) : []),
    ...prose('criteria', criteria),
    ...prose('rubric', evalCase.rubric),
  ];
}

/** Why trials did not pass; those with the same reasons are told once. */
function reasonLines(trials: readonly CaseTrial[], options: ShowOptions): string[] {
  const groups = new Map<string, { indexes: number[]; status: string; texts: string[] }>();
  for (const trial of trials) {
    if (trial.status === null || trial.status === 'passed') continue;
    const texts = reasonsOf(trial);
    const key = JSON.stringify([trial.status, ...texts]);
    const group = groups.get(key) ?? { indexes: [], status: trial.status, texts };
    group.indexes.push(trial.trial_index);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ indexes, status, texts }) => [
    '',
    `${indexes.length === 1 ? 'trial' : 'trials'} ${some(indexes.map(String), 10)} ${status}`,
    ...texts.flatMap((text) => textLines(text, options.width - 2, options.full)).map((line) => `  ${line}`),
  ]);
}

/** What decided against a trial: its error, violations and failed or missing deciding scores. */
function reasonsOf(trial: CaseTrial): string[] {
  if (trial.error !== null) return [`${trial.error.kind}: ${trial.error.message}`];
  return trial.scores
    .filter((score) => score.violation || (score.deciding && score.passed !== true))
    .map((score) => `${score.scorer}: ${score.passed === null ? 'not scored: ' : ''}${score.reason}`);
}
