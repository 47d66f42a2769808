import type { GateResult, GroupResult, Metric, MetricDelta } from '../core/evaluation.ts';
import { FURTHER_DIMENSIONS } from '../core/evaluation.ts';
import { box, displayWidth, table, wrap } from './align.ts';
import {
  formatChange,
  formatChangeInterval,
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

/** What a mean is over, from words to figures: the first form that fits is used. */
const COVERAGES: readonly ((metric: Metric) => string)[] = [
  formatCoverage,
  (metric) => formatCoverage(metric).replaceAll(' of ', '/'),
  (metric) => `${formatCount(metric.trials)}/${formatCount(metric.trials_applicable)} trials`,
];

/** Percentiles and the largest number of turns: what the means hide. */
function spreadLine(model: ReportModel): string {
  const { latency_ms: latency, iterations_max: most } = model.result;
  const parts = [
    ...(latency.p50 === null
      ? []
      : [
          `latency p50 ${formatDuration(latency.p50)}, p90 ${formatDuration(latency.p90)}, p99 ${formatDuration(latency.p99)}`,
        ]),
    ...(most === null ? [] : [`iterations at most ${formatCount(most)}`]),
  ];
  return parts.join(' · ');
}

const RETRIEVAL_TITLES: Record<string, string> = {
  rag_recall: 'RAG recall',
  doc_mrr: 'Doc MRR',
  doc_ndcg: 'Doc nDCG',
};

/** Judge dimensions and retrieval metrics that have scores, then the suite's own scorers by the names they have there. */
function furtherScores({ result }: ReportModel): { metric: Metric; title: string }[] {
  const titleOf = (name: string): string => {
    const words = metricName(name);
    return RETRIEVAL_TITLES[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
  };
  const further = FURTHER_DIMENSIONS.flatMap((name) => {
    const metric = metricOf(result.metrics, name);
    return metric === undefined || metric.trials === 0 ? [] : [{ metric, title: titleOf(name) }];
  });
  const own = (result.own_scores ?? []).map((metric) => ({ metric, title: cleanText(metric.metric) }));
  return [...further, ...own];
}

/** The boxed summary: each mean with its 95 % interval and what it is over. */
export function summaryLines(model: ReportModel, width: number): string[] {
  const shown = SUMMARY.flatMap(([name, title]) => {
    const metric = metricOf(model.result.metrics, name);
    if (metric === undefined || metric.trials_applicable === 0) return [];
    return name === 'partial_rate' && (metric.value ?? 0) === 0 ? [] : [{ metric, title }];
  });
  shown.push(...furtherScores(model));
  const rows = (coverage: (metric: Metric) => string): string[] =>
    table(
      [{ title: '', max: 24 }, { title: 'mean', align: 'right' }, { title: '95 % interval' }, { title: 'over' }],
      shown.map(({ metric, title }) => [
        title,
        formatMetric(metric.metric, metric.value),
        formatInterval(metric),
        coverage(metric),
      ]),
    );
  const forms = COVERAGES.map(rows);
  const fitting = forms.find((lines) => lines.every((line) => displayWidth(line) <= width - 4));
  const spread = spreadLine(model);
  const tail = spread === '' ? [] : ['', ...wrap(spread, width - 4)];
  return box('Summary', [totalLine(model), '', ...(fitting ?? forms.at(-1) ?? []), ...tail], width);
}

const GROUP_METRICS: readonly [string, string][] = [
  ['completion_rate', 'completion'],
  ['case_pass_rate', 'pass'],
  ['tool_score', 'tools'],
  ['answer_quality', 'quality'],
  ['mean_tokens', 'tokens'],
  ['mean_latency_ms', 'latency'],
];

/** Groups a table shows; the rest are counted. */
const GROUPS = 12;

/** The shown metric that covers least of its planned trials speaks for the row. */
function leastCovered(metrics: readonly Metric[], names: readonly string[]): string {
  const share = (metric: Metric): number => metric.trials / metric.trials_applicable;
  const [least] = names
    .map((name) => metricOf(metrics, name))
    .filter((metric): metric is Metric => metric !== undefined && metric.trials_applicable > 0)
    .sort((a, b) => share(a) - share(b));
  return least === undefined ? NONE : `${formatCount(least.trials)}/${formatCount(least.trials_applicable)}`;
}

/** Drops columns from the right until the table fits; title, cases and scored stay. */
function fitting(lines: (columns: number) => string[], columns: number, width: number): string[] {
  const shown = lines(columns);
  const fits = columns === 0 || shown.every((line) => displayWidth(line) <= width);
  return fits ? shown : fitting(lines, columns - 1, width);
}

/** Means by category (or another axis); `scored` says how many trials the least covered of them is over. */
export function groupLines(model: ReportModel, by: GroupResult['by'], title: string, width: number): string[] {
  const groups = model.result.groups.filter((group) => group.by === by);
  if (groups.length === 0) return [];
  const all = GROUP_METRICS.filter(([name]) =>
    groups.some((group) => (metricOf(group.metrics, name)?.trials ?? 0) > 0),
  );
  const lines = (count: number): string[] => {
    const columns = all.slice(0, count);
    const names = columns.map(([name]) => name);
    const rows = groups
      .slice(0, GROUPS)
      .map(({ name: group, cases, metrics }) => [
        cleanText(group),
        formatCount(cases),
        leastCovered(metrics, names),
        ...names.map((name) => formatMetric(name, metricOf(metrics, name)?.value ?? null)),
      ]);
    const right = ['cases', 'scored', ...columns.map(([, name]) => name)];
    return table([{ title, max: 24 }, ...right.map((name) => ({ title: name, align: 'right' as const }))], rows);
  };
  const more = groups.length - GROUPS;
  return [...fitting(lines, all.length, width), ...(more > 0 ? [`and ${formatCount(more)} more`] : [])];
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
  if (bound === null) return gate.wanted.replace('<=', '≤');
  const value = Number(bound[2]);
  const shown = formatMetric(gate.metric, value);
  const percent = shown.endsWith(' %');
  if (percent && value === 1 && bound[1] === '>=') return '= 100 %';
  const text = percent ? `${Number((value * 100).toFixed(2))} %` : formatBound(gate.metric, value);
  return `${{ '<=': '≤', '>=': '≥' }[bound[1] ?? ''] ?? bound[1]} ${text}`;
}

function formatBound(metric: string, value: number): string {
  if (metric === 'mean_latency_ms' || metric === 'cost_usd') return formatMetric(metric, value);
  return value >= 1000 ? formatCount(value) : String(value);
}

function uncovered(gate: GateResult): boolean {
  return gate.verdict === 'inconclusive' && gate.reason.endsWith('under 98 %') && gate.case_ids.length === 0;
}

/** Every gate: name, wanted, got, n, verdict; below what is not plain, why and the cases behind it. */
export function gateLines(model: Pick<ReportModel, 'gates'>, width: number, style: Style): string[] {
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
      // The n column says it already; one note below the table explains the word.
      if (uncovered(gate)) return shown;
      const cases = gate.case_ids.length > 0 ? `: ${some(gate.case_ids.map(cleanText), 8)}` : '';
      const why = `${cleanText(gate.reason)}${cases}`;
      return why === '' ? shown : [...shown, ...wrap(why, width - 3, 3).map((text) => `   ${text}`)];
    }),
    ...(model.gates.some(uncovered) ? [style('dim', '   inconclusive: fewer than 98 % of the trials are scored')] : []),
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

const DELTA_WORDS: Record<MetricDelta['verdict'], string> = {
  better: 'better',
  same: 'same',
  alert: 'alert',
  regressed: 'failed',
  not_significant: 'unproven',
  unknown: 'unknown',
};

function deltaCells(delta: MetricDelta): string[] {
  const ratio = delta.kind === 'ratio';
  const signed = (value: number | null): string => formatChange(delta.metric, value, delta.kind);
  const p = delta.p_adjusted ?? delta.p;
  const found = delta.smallest_detectable;
  return [
    metricName(delta.metric),
    formatMetric(delta.metric, delta.baseline),
    formatMetric(delta.metric, delta.value),
    signed(delta.delta),
    formatChangeInterval(delta),
    p === null ? NONE : p < 0.001 ? '<.001' : p >= 0.9995 ? '1' : p.toFixed(3).slice(1),
    found === null ? NONE : ratio ? `×${(1 + found).toFixed(2)}` : signed(found).slice(1),
    DELTA_WORDS[delta.verdict],
  ];
}

/** Always in the table; the rest only where something moved. */
const HEADLINE: ReadonlySet<string> = new Set([
  'completion_rate',
  'case_pass_rate',
  'tool_score',
  'answer_quality',
  'mean_tokens',
  'mean_latency_ms',
  'cost_usd',
]);

/** Deltas against the baseline, then cases that changed sides and cases that could not be compared. */
export function comparisonLines(
  model: Pick<ReportModel, 'comparison' | 'baseline_label'>,
  width: number,
  style: Style,
): string[] {
  const { comparison } = model;
  if (comparison === null) return [];
  const deltas = comparison.deltas.filter((delta) => HEADLINE.has(delta.metric) || delta.verdict !== 'same');
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
    deltas.map(deltaCells),
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
    const tone = DELTA_TONES[deltas[i]?.verdict ?? 'same'];
    return tone === null ? row : style(tone, row);
  });
  const hidden = comparison.deltas.length - deltas.length;
  const note = 'p: after Holm over the scores · finds: the smallest change these cases can show';
  const notes = [
    ...(hidden > 0 ? [`${plural(hidden, 'more metric')} the same`] : []),
    ...(deltas.length > 0 ? wrap(note, width) : []),
  ].map((line) => style('dim', line));
  return [style('dim', head ?? ''), ...toned, ...notes, ...listed, ...stale];
}
