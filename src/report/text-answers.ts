import type { Metric } from '../core/evaluation.ts';
import { padEnd, wrap } from './align.ts';
import { cleanText } from './clean.ts';
import {
  changeUnit,
  formatChange,
  formatCount,
  formatCoverage,
  formatDuration,
  formatInterval,
  formatMetric,
  formatMoney,
  plural,
  some,
} from './format.ts';
import type { ReportModel } from './report-model.ts';
import type { Style, Tone } from './style.ts';
import { wrapReason } from './wrong-step.ts';
import type { WorstCase } from './worst-cases.ts';

const LABEL = 8;
const LAYER_NAMES = { L1: 'L1 planning', L2: 'L2 tool calls', L3: 'L3 outcome' } as const;

const METRIC_NAMES: Record<string, string> = {
  completion_rate: 'completion',
  case_pass_rate: 'case pass rate',
  mean_latency_ms: 'latency',
  mean_tokens: 'tokens',
  mean_iterations: 'iterations',
  mean_tool_calls: 'tool calls',
  cost_usd: 'cost',
};

/** A metric's name in running text. */
export function metricName(metric: string): string {
  return METRIC_NAMES[metric] ?? metric.replaceAll('_', ' ');
}

function toneOf(word: ReportModel['verdict']['word']): Tone {
  return word === 'PASSED' ? 'good' : word === 'INCOMPLETE' ? 'warn' : 'bad';
}

function metricOf(model: ReportModel, metric: string): Metric | undefined {
  return model.result.metrics.find((one) => one.metric === metric);
}

/** A change of a metric in words: `tool score −0.120`, `tokens ×1.31`. */
function changeText(delta: { metric: string; delta: number | null; kind: 'difference' | 'ratio' }): string {
  if (delta.delta === null) return metricName(delta.metric);
  const { metric, kind } = delta;
  return `${metricName(metric)} ${formatChange(metric, delta.delta, kind)}${changeUnit(metric, kind)}`;
}

const PARTS: ReadonlySet<string> = new Set(['trial_pass_rate', 'tool_names', 'tool_args', 'tool_order']);

function worse(model: ReportModel): string[] {
  const { comparison, baseline_label } = model;
  if (comparison === null) return ['no baseline to compare with'];
  const lines: string[] = [];
  const moved = comparison.deltas.filter((delta) => delta.verdict === 'regressed' || delta.verdict === 'alert');
  // Parts of a score that dropped itself say nothing new here; the table below has them.
  const headline = moved.filter((delta) => !PARTS.has(delta.metric));
  const dropped = headline.length > 0 ? headline : moved;
  if (dropped.length > 0) lines.push(dropped.map(changeText).join(' · '));
  const { newly_failing: failing, newly_flaky: flaky } = comparison;
  if (failing.length > 0) lines.push(`newly failing: ${some(failing, 5)}`);
  if (flaky.length > 0) lines.push(`newly flaky: ${some(flaky, 5)}`);
  const against = `against baseline ${baseline_label ?? comparison.baseline_evaluation_id}, ${plural(comparison.compared_cases, 'case')} alike`;
  const { passed, failed } = model.result.counts;
  // Nothing seen is not nothing lost.
  if (lines.length === 0)
    lines.push(
      passed + failed === 0 ? `not known, nothing has a verdict; to be compared ${against}` : `nothing ${against}`,
    );
  else lines.push(against);
  if (comparison.stale.length > 0) lines.push(`the baseline is stale: ${comparison.stale.join('; ')}`);
  return lines;
}

function where(model: ReportModel): string[] {
  const { failed_trials: failed, layers, groups } = model.where;
  const broken = layers.filter((layer) => layer.trials > 0);
  const parts = broken.map(({ layer, trials }) => `${LAYER_NAMES[layer]} ${formatCount(trials)}`);
  const unanswered = model.result.no_answer?.trials ?? 0;
  if (unanswered > 0) parts.push(`broken off without an answer ${formatCount(unanswered)}`);
  const rest = failed - unanswered - broken.reduce((sum, layer) => sum + layer.trials, 0);
  if (rest > 0) parts.push(`without a layer ${formatCount(rest)}`);
  const lines: string[] = [];
  if (failed > 0) lines.push(`${plural(failed, 'failed trial')}: ${parts.join(' · ')}`);
  if (groups.length > 0) {
    const weak = groups
      .slice(0, 3)
      .map((group) => `${group.name} ${formatCount(group.passed)} of ${plural(group.cases, 'case')} pass`);
    lines.push(weak.join(' · '));
  }
  const lost = Object.entries(model.result.error_kinds).sort(([, a], [, b]) => b - a);
  if (lost.length > 0) {
    const kinds = lost.slice(0, 3).map(([kind, count]) => `${kind} ${formatCount(count)}`);
    lines.push(`without a verdict: ${kinds.join(' · ')}`);
  }
  return lines.length > 0 ? lines : ['nothing failed'];
}

/** `failed 0 of 3`: what became of a case. */
export function outcomeText(worst: WorstCase): string {
  if (worst.outcome === 'unscored') return `no verdict in ${plural(worst.trials, 'trial')}`;
  if (worst.trials === 1) return worst.outcome;
  return `${worst.outcome}, ${worst.passed_trials} of ${worst.scored_trials} trials pass`;
}

/** Lines one of the worst three takes. */
const WORST_LINES = 2;

function worstThree(model: ReportModel, width: number): string[] {
  if (model.worst.length === 0) {
    const { passed, failed } = model.result.counts;
    const lost = model.result.planned_trials - passed - failed;
    return [
      lost === 0
        ? 'every case passed'
        : `no case failed, but ${plural(lost, 'trial')} of ${formatCount(model.result.planned_trials)} have no verdict`,
    ];
  }
  const shared = sharedEnding(model);
  const lead = shared === null ? [] : wrapReason('', shared, width, WORST_LINES);
  const cases = model.worst.slice(0, shared === null ? 3 : 2).flatMap((one) => {
    const reason = one.reasons[0];
    const text = reason === undefined ? '' : (reason.first_wrong_step ?? reason.reason);
    const head = `${one.case_id}  ${outcomeText(one)}${text === '' ? '' : ': '}`;
    // Said above, for all of them.
    if (shared !== null && text.startsWith('ended ')) return wrap(`${one.case_id}  ${outcomeText(one)}`, width, 1);
    return wrapReason(head, text, width, WORST_LINES);
  });
  return [...lead, ...cases];
}

/** `8 of 8 trials ended FAILED: why`, where most failed trials broke off without an answer; null elsewhere. */
function sharedEnding({ result, where: { failed_trials: failed } }: ReportModel): string | null {
  const { no_answer: broken, planned_trials: planned } = result;
  if (broken === undefined || broken.trials * 2 < failed) return null;
  const of = `${formatCount(broken.trials)} of ${plural(planned, 'trial')} ended`;
  const ending = cleanText(broken.ending);
  if (broken.ending_trials === broken.trials) return `${of} ${ending}`;
  return `${of} without an answer, ${formatCount(broken.ending_trials)} of them ${ending}`;
}

function todo(model: ReportModel): string[] {
  if (model.actions.length > 0) return model.actions.slice(0, 2).map((action) => `${action.layer}: ${action.text}`);
  return [
    model.not_passed > 0 ? 'look at the worst cases below' : 'nothing; pin it as a baseline or make the cases harder',
  ];
}

function cost(model: ReportModel): string[] {
  const { cost_usd: money, tokens } = model.result;
  const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  const all = sum(tokens.agent, tokens.judge);
  const spent = sum(money.agent, money.judge) ?? 0;
  const pretended = model.evaluation.offline === true && spent > 0 ? ' as if priced' : '';
  const parts = [
    money.agent === null && money.judge === null
      ? 'money unknown (no price for the model)'
      : `${formatMoney(sum(money.agent, money.judge))} (agent ${formatMoney(money.agent)}, judge ${formatMoney(money.judge)})${pretended}`,
    all === null ? 'tokens unknown' : `${formatCount(all)} tokens`,
    ...(model.duration_ms === null ? [] : [formatDuration(model.duration_ms)]),
  ];
  const { source } = model.evaluation;
  const agent = source === undefined ? [] : [`the agent was not run: its part of these is that of ${source}`];
  return [[...parts, ...agent].join(' · ')];
}

function sure(model: ReportModel): string[] {
  const metric = [metricOf(model, 'completion_rate'), metricOf(model, 'case_pass_rate')].find(
    (one) => one !== undefined && one.trials_applicable > 0,
  );
  if (metric === undefined || metric.value === null) return ['nothing has a verdict'];
  const interval = formatInterval(metric);
  const range = interval === '' ? '' : ` (95 %: ${interval})`;
  const lines = [
    `${metricName(metric.metric)} ${formatMetric(metric.metric, metric.value)}${range} over ${formatCoverage(metric)}`,
  ];
  const delta = model.comparison?.deltas.find((one) => one.metric === metric.metric);
  const detectable = delta?.smallest_detectable ?? null;
  if (delta !== undefined && detectable !== null) {
    const size = formatChange(delta.metric, detectable, delta.kind).slice(1) + changeUnit(delta.metric, delta.kind);
    lines.push(`a drop of less than ${size} against the baseline would go unnoticed`);
  }
  return lines;
}

/** The verdict's line without the word that stands above it. */
function summaryText(summary: string): string {
  const bare = summary.replace(/^(?:Passed|Incomplete): /, '').replace(/\.$/, '');
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

/** The first screen: did it pass, what got worse, where, the worst three, what to do, what it cost, how sure. */
export function answerLines(model: ReportModel, width: number, style: Style): string[] {
  const { verdict, evaluation, result } = model;
  const trials = result.cases === 0 ? 0 : result.planned_trials / result.cases;
  const size =
    Number.isInteger(trials) && trials > 1
      ? `${plural(result.cases, 'case')} × ${trials} trials`
      : `${plural(result.cases, 'case')}, ${plural(result.planned_trials, 'trial')}`;
  const title = `${evaluation.suite} · ${evaluation.kind} · ${evaluation.agent} · ${size}`;
  const rows: [string, string[], number][] = [
    ['Worse', worse(model), 2],
    ['Where', where(model), 2],
    ['Worst', worstThree(model, width - LABEL), WORST_LINES],
    ['Do', todo(model), 3],
    ['Cost', cost(model), 2],
    ['Sure', sure(model), 2],
  ];
  const body = rows.flatMap(([label, texts, most]) =>
    texts
      .flatMap((text) => wrap(text, width - LABEL, most))
      .map((line, i) => `${style('dim', padEnd(i === 0 ? label : '', LABEL))}${line}`.trimEnd()),
  );
  const summary = wrap(
    `${summaryText(verdict.summary)} · exit code ${verdict.exit_code} · ${evaluation.evaluation_id}`,
    width,
    4,
  );
  return [
    `${style(toneOf(verdict.word), style('bold', verdict.word))}  ${wrap(title, width - verdict.word.length - 2, 1)[0] ?? ''}`,
    ...summary,
    '',
    ...body,
  ];
}
