import type { GateResult, Metric, MetricDelta } from '../core/evaluation.ts';
import { box, displayWidth, padEnd, table, wrap } from './align.ts';
import {
  formatCount,
  formatCoverage,
  formatDuration,
  formatInterval,
  formatMetric,
  NONE,
  plural,
  some,
} from './format.ts';
import type { ReportModel } from './report-model.ts';
import type { Style, Tone } from './style.ts';
import { metricName } from './text-answers.ts';
import { cleanText } from './clean.ts';

function metricOf(metrics: readonly Metric[], name: string): Metric | undefined {
  return metrics.find((metric) => metric.metric === name);
}

const SUMMARY: readonly [string, string][] = [
  ['completion_rate', 'Completion rate'],
  ['partial_rate', 'Partly completed'],
  ['case_pass_rate', 'Case pass rate'],
  ['tool_score', 'Tool score'],
  ['answer_quality', 'Answer quality'],
  ['mean_tokens', 'Tokens'],
  ['mean_latency_ms', 'Latency'],
  ['mean_iterations', 'Iterations'],
];

function totalLine(model: ReportModel): string {
  const { cases, planned_trials, counts } = model.result;
  const parts = (['passed', 'failed', 'unscored', 'errored', 'canceled', 'missing'] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => `${formatCount(counts[status])} ${status}`);
  return `${plural(cases, 'case')}, ${plural(planned_trials, 'trial')}: ${parts.join(', ') || 'none run'}`;
}

/** `16/16 cases, 48/48 trials`, for lines too narrow for the words. */
function shortCoverage(metric: Metric): string {
  return formatCoverage(metric).replaceAll(' of ', '/');
}

function extra(model: ReportModel, metric: string): string {
  const { latency_ms: latency, iterations_max: most } = model.result;
  if (metric === 'mean_iterations') return most === null ? '' : `max ${formatCount(most)}`;
  if (metric !== 'mean_latency_ms' || latency.p50 === null) return '';
  return `p50 ${formatDuration(latency.p50)} · p90 ${formatDuration(latency.p90)} · p99 ${formatDuration(latency.p99)}`;
}

/** The boxed summary: each mean with its 95 % interval and what it is over. */
export function summaryLines(model: ReportModel, width: number): string[] {
  const shown = SUMMARY.flatMap(([name, title]) => {
    const metric = metricOf(model.result.metrics, name);
    if (metric === undefined || metric.trials_applicable === 0) return [];
    return name === 'partial_rate' && (metric.value ?? 0) === 0 ? [] : [{ metric, title }];
  });
  const rows = (coverage: (metric: Metric) => string): string[] =>
    table(
      [{ title: '' }, { title: 'mean', align: 'right' }, { title: '95 % interval' }, { title: 'over' }],
      shown.map(({ metric, title }) => [
        title,
        formatMetric(metric.metric, metric.value),
        extra(model, metric.metric) || formatInterval(metric),
        coverage(metric),
      ]),
    );
  const long = rows(formatCoverage);
  const lines = long.some((line) => displayWidth(line) > width - 4) ? rows(shortCoverage) : long;
  return box('Summary', [totalLine(model), '', ...lines], width);
}

const GROUP_METRICS: readonly [string, string][] = [
  ['completion_rate', 'completion'],
  ['case_pass_rate', 'case pass'],
  ['tool_score', 'tools'],
  ['answer_quality', 'quality'],
  ['mean_tokens', 'tokens'],
  ['mean_latency_ms', 'latency'],
];

/** Groups a table shows; the rest are counted. */
const GROUPS = 12;

/** Means by category (or another axis), with (scored/planned) where some trials are not scored. */
export function groupLines(model: ReportModel, by: 'category' | 'dimension' | 'layer', title: string): string[] {
  const groups = model.result.groups.filter((group) => group.by === by);
  if (groups.length === 0) return [];
  const columns = GROUP_METRICS.filter(([name]) =>
    groups.some((group) => (metricOf(group.metrics, name)?.trials ?? 0) > 0),
  );
  const cell = (metric: Metric | undefined): string => {
    if (metric === undefined) return NONE;
    const value = formatMetric(metric.metric, metric.value);
    return metric.trials < metric.trials_applicable ? `${value} (${metric.trials}/${metric.trials_applicable})` : value;
  };
  const rows = groups
    .slice(0, GROUPS)
    .map((group) => [
      cleanText(group.name),
      formatCount(group.cases),
      ...columns.map(([name]) => cell(metricOf(group.metrics, name))),
    ]);
  const more = groups.length - rows.length;
  return [
    ...table(
      [
        { title, max: 24 },
        { title: 'cases', align: 'right' },
        ...columns.map(([, name]) => ({ title: name, align: 'right' as const })),
      ],
      rows,
    ),
    ...(more > 0 ? [`and ${formatCount(more)} more`] : []),
  ];
}

const GATE_SIGNS: Record<GateResult['verdict'], [string, Tone, string]> = {
  passed: ['✓', 'good', 'passed'],
  failed: ['✗', 'bad', 'failed'],
  inconclusive: ['?', 'warn', 'inconclusive'],
  not_applicable: ['·', 'dim', 'n/a'],
};

function gateGot(gate: GateResult): string {
  if (gate.metric === 'regression') return gate.got === null ? NONE : gate.got.toFixed(3);
  return formatMetric(gate.metric, gate.got);
}

/** `>= 0.85` as per cent where the metric is read so. */
function gateWanted(gate: GateResult): string {
  const bound = /^(<=|>=|<|>|=) (\d+(?:\.\d+)?)$/.exec(gate.wanted);
  if (bound === null) return gate.wanted;
  const sign = { '<=': '≤', '>=': '≥' }[bound[1] ?? ''] ?? bound[1];
  const value = Number(bound[2]);
  const shown = formatMetric(gate.metric, value);
  const text = shown.endsWith(' %')
    ? `${Number((value * 100).toFixed(2))} %`
    : /\d/.test(shown) && gate.metric.includes('_ms')
      ? shown
      : bound[2];
  return `${sign} ${text}`;
}

/** Every gate: name, wanted, got, n, verdict; below what is not plain, why and the cases behind it. */
export function gateLines(model: ReportModel, width: number, style: Style): string[] {
  const rows = model.gates.map((gate) => [
    GATE_SIGNS[gate.verdict][0],
    cleanText(gate.gate),
    gateWanted(gate),
    gate.verdict === 'not_applicable' ? NONE : gateGot(gate),
    gate.verdict === 'not_applicable' ? '' : `${formatCount(gate.trials)} of ${formatCount(gate.trials_applicable)}`,
    GATE_SIGNS[gate.verdict][2] + (gate.verdict === 'not_applicable' ? `: ${gate.reason}` : ''),
  ]);
  const [head, ...lines] = table(
    [
      { title: '' },
      { title: 'Gates', max: 28 },
      { title: 'wanted' },
      { title: 'got', align: 'right' },
      { title: 'trials', align: 'right' },
      { title: 'verdict', max: 36 },
    ],
    rows,
  );
  return [
    style('dim', head ?? ''),
    ...lines.flatMap((line, i) => {
      const gate = model.gates[i];
      if (gate === undefined) return [];
      const shown = [style(GATE_SIGNS[gate.verdict][1], line)];
      if (gate.verdict === 'not_applicable' || (gate.verdict === 'passed' && gate.reason === '')) return shown;
      const cases = gate.case_ids.length > 0 ? `: ${some(gate.case_ids.map(cleanText), 8)}` : '';
      const why = `${cleanText(gate.reason)}${cases}`;
      return why === '' ? shown : [...shown, ...wrap(why, width - 3, 3).map((text) => `   ${text}`)];
    }),
  ];
}

const DELTA_TONES: Record<MetricDelta['verdict'], Tone | null> = {
  better: 'good',
  same: null,
  alert: 'warn',
  regressed: 'bad',
  not_significant: 'dim',
  unknown: 'dim',
};

function deltaCells(delta: MetricDelta): string[] {
  const ratio = delta.kind === 'ratio';
  const signed = (value: number | null): string => {
    if (value === null) return NONE;
    if (ratio) return `×${value.toFixed(2)}`;
    return `${value < -5e-4 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
  };
  const interval = delta.low === null || delta.high === null ? NONE : `${signed(delta.low)} to ${signed(delta.high)}`;
  const p = delta.p_adjusted ?? delta.p;
  const found = delta.smallest_detectable;
  return [
    metricName(delta.metric),
    formatMetric(delta.metric, delta.baseline),
    formatMetric(delta.metric, delta.value),
    signed(delta.delta),
    interval,
    p === null ? NONE : p < 0.001 ? '<.001' : p.toFixed(3),
    found === null ? NONE : ratio ? `×${(1 + found).toFixed(2)}` : found.toFixed(3),
    delta.verdict.replaceAll('_', ' '),
  ];
}

/** Deltas against the baseline, then cases that changed sides and cases that could not be compared. */
export function comparisonLines(model: ReportModel, width: number, style: Style): string[] {
  const { comparison } = model;
  if (comparison === null) return [];
  const name = model.baseline_label ?? comparison.baseline_evaluation_id;
  const [head, ...rows] = table(
    [
      { title: `Against ${name}`, max: 22 },
      { title: 'before', align: 'right' },
      { title: 'now', align: 'right' },
      { title: 'change', align: 'right' },
      { title: '95 % interval', align: 'right' },
      { title: 'p', align: 'right' },
      { title: 'finds', align: 'right' },
      { title: 'verdict' },
    ],
    comparison.deltas.map(deltaCells),
  );
  const lists: [string, string[]][] = [
    ['newly failing', comparison.newly_failing],
    ['newly passing', comparison.newly_passing],
    ['newly flaky', comparison.newly_flaky],
    ['changed', comparison.changed_cases],
    ['new', comparison.new_cases],
    ['removed', comparison.removed_cases],
  ];
  const listed = lists
    .filter(([, ids]) => ids.length > 0)
    .flatMap(([title, ids]) =>
      wrap(`${title}: ${some(ids.map(cleanText), 8)}`, width - 2, 2).map((line, i) => (i === 0 ? line : `  ${line}`)),
    );
  const stale = comparison.stale.map((reason) => style('warn', `stale: ${reason}`));
  const toned = rows.map((row, i) => {
    const tone = DELTA_TONES[comparison.deltas[i]?.verdict ?? 'same'];
    return tone === null ? row : style(tone, row);
  });
  const notes =
    comparison.deltas.length > 0
      ? [style('dim', padEnd('p: after Holm over the scores; finds: the smallest change this many cases can show', 0))]
      : [];
  return [style('dim', head ?? ''), ...toned, ...notes, ...listed, ...stale];
}
