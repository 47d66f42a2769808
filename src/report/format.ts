import type { Metric, MetricDelta } from '../core/evaluation.ts';

/** Stands where there is no value. */
export const NONE = '–';

const RATES: ReadonlySet<string> = new Set([
  'completion_rate',
  'partial_rate',
  'case_pass_rate',
  'trial_pass_rate',
  'unscored_share',
]);

/** `12,345`; fractions only below 100. */
export function formatCount(value: number | null): string {
  if (value === null) return NONE;
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 1;
  return minus(value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ','));
}

/** With a true minus sign, as wide as the digits beside it. */
function minus(text: string): string {
  return text.replace(/^-/, '−');
}

/** `91.7 %`. A rate that is not all is never printed as 100.0 %. */
export function formatPercent(value: number | null): string {
  if (value === null) return NONE;
  const rounded = (value * 100).toFixed(1);
  if (rounded === '100.0' && value < 1) return '99.9 %';
  return `${rounded === '0.0' && value > 0 ? '0.1' : rounded} %`;
}

export function formatScore(value: number | null): string {
  return value === null ? NONE : minus(value.toFixed(3));
}

/** US dollars, with as many decimals as small sums need. */
export function formatMoney(value: number | null): string {
  if (value === null) return 'unknown';
  if (value === 0) return '$0';
  return `$${value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4)}`;
}

/** `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 07 min`. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return NONE;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor((seconds % 3600) / 60))} min`;
}

/** A value in the form its metric is read in. */
export function formatMetric(metric: string, value: number | null): string {
  if (value === null) return NONE;
  if (RATES.has(metric)) return formatPercent(value);
  if (metric === 'mean_latency_ms') return formatDuration(value);
  if (metric === 'cost_usd') return formatMoney(value);
  if (metric === 'safety_violations' || metric.startsWith('mean_')) return formatCount(value);
  return formatScore(value);
}

/** `71.2 to 98.1` (per cent), `0.880 to 0.990`; where all cases have the same value, their t interval is a point. */
export function formatInterval({ metric, low, high }: Pick<Metric, 'metric' | 'low' | 'high'>): string {
  if (low === null || high === null) return '';
  if (high - low <= 1e-12 * Math.max(1, high)) return 'no spread';
  const bare = (value: number): string => formatMetric(metric, value).replace(' %', '');
  return `${bare(low)} to ${bare(high)}`;
}

/**
 * A change of a metric with its sign: in points for rates, `×1.31` for ratios.
 * @param more decimals beyond the usual ones
 */
export function formatChange(
  metric: string,
  value: number | null,
  kind: 'difference' | 'ratio',
  more: 0 | 1 | 2 = 0,
): string {
  if (value === null) return NONE;
  if (kind === 'ratio') return `×${value.toFixed(2 + more)}`;
  const text = RATES.has(metric) ? Math.abs(value * 100).toFixed(1 + more) : Math.abs(value).toFixed(3 + more);
  return Number(text) === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
}

/** `+0.031 to 0.089`, with up to two more decimals where its ends would read the same, unless they read as no change. */
export function formatChangeInterval({
  metric,
  low,
  high,
  kind,
}: Pick<MetricDelta, 'metric' | 'low' | 'high' | 'kind'>): string {
  if (low === null || high === null) return NONE;
  const ends = ([0, 1, 2] as const).map((more) => [low, high].map((end) => formatChange(metric, end, kind, more)));
  const plain = ends[0] ?? [];
  const none = formatChange(metric, kind === 'ratio' ? 1 : 0, kind);
  const differ = plain.every((end) => end === none) ? plain : ends.find(([one, other]) => one !== other);
  const [from, to] = differ ?? plain;
  return `${from} to ${to?.replace('+', '')}`;
}

/** The unit of a change in running text. */
export function changeUnit(metric: string, kind: 'difference' | 'ratio'): string {
  return kind === 'difference' && RATES.has(metric) ? ' points' : '';
}

/** `16 of 16 cases, 48 of 48 trials`. */
export function formatCoverage(metric: Metric): string {
  const of = (n: number, all: number, noun: string): string => `${formatCount(n)} of ${formatCount(all)} ${noun}`;
  return `${of(metric.cases, metric.cases_applicable, 'cases')}, ${of(metric.trials, metric.trials_applicable, 'trials')}`;
}

/** `1 case`, `2 cases`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** The first few of many, and how many more there are. */
export function some(names: readonly string[], limit: number, total = names.length): string {
  const shown = names.slice(0, limit);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatCount(more)} more` : shown.join(', ');
}
