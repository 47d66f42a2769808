import type { Agreement, Calibration, CalibrationGroup, Estimate, ReviewerPair } from '../core/calibration.ts';
import { fittedTable, padStart, table, wrap } from './align.ts';
import { cleanText } from './clean.ts';
import { formatPercent, formatScore, NONE, plural } from './format.ts';
import { createStyle } from './style.ts';
import type { Style } from './style.ts';

/** Disagreements listed for one dimension; the rest is counted, and in the JSON form. */
const SHOWN = 10;

/** Widest confusion matrix that is printed, in categories. */
const MATRIX = 9;

/** Judge against humans for a terminal: the verdict first, then each dimension. Ends with a newline. */
export function renderCalibration(
  calibration: Calibration,
  options: { width: number; color: boolean; title?: string },
): string {
  const style = createStyle(options.color);
  const sections = [
    headLines(calibration, options, style),
    ...calibration.groups.map((group) => groupLines(group, calibration.limit, options.width, style)),
  ];
  return `${sections.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

/** The table of a report: one line a dimension and judge prompt. */
export function calibrationLines(calibration: Calibration | null, width: number): string[] {
  if (calibration === null) return [];
  const rows = calibration.groups.map((group) => [
    cleanText(group.dimension),
    group.unscored === 0 ? String(group.labels) : `${group.labels - group.unscored}/${group.labels}`,
    estimate(group.agreement?.agreement ?? null, formatPercent),
    estimate(group.agreement?.kappa ?? null),
    estimate(group.agreement?.weighted_kappa ?? null),
    group.needs_work ? 'rubric needs work' : '',
  ]);
  return fittedTable(
    [
      { title: 'Judge and humans', max: 24 },
      { title: 'labels', align: 'right' },
      { title: 'agreement' },
      { title: 'kappa' },
      { title: 'weighted kappa', drop: 1 },
      { title: '', drop: 2 },
    ],
    rows,
    width,
  );
}

function headLines(
  { agreement, compared, labels, limit, groups }: Calibration,
  { width, title }: { width: number; title?: string },
  style: Style,
): string[] {
  const weak = groups.filter((group) => group.needs_work).map(({ dimension }) => dimension);
  const over = `${compared} of ${labels} labels compared`;
  const verdict =
    agreement === null
      ? `no label could be compared in categories (${over})`
      : `the judge agrees with ${formatPercent(agreement)} of the human labels (${over})`;
  const names = [...new Set(weak)].join(', ');
  const work = `The rubric of ${names} needs work: agreement is under ${formatPercent(limit)}. Make its rules checkable, and read the cases below.`;
  return [
    ...(title === undefined ? [] : [style('bold', title)]),
    ...wrap(verdict, width),
    ...(weak.length === 0 ? [] : wrap(work, width).map((line) => style('bad', line))),
  ];
}

/** `0.549 (0.464 to 0.633)`. */
function estimate(value: Estimate | null, format: (value: number | null) => string = formatScore): string {
  if (value === null) return NONE;
  const bare = (end: number): string => format(end).replace(' %', '');
  const interval = value.low === null || value.high === null ? '' : ` (${bare(value.low)} to ${bare(value.high)})`;
  return `${format(value.value)}${interval}`;
}

function groupLines(group: CalibrationGroup, limit: number, width: number, style: Style): string[] {
  const prompt = group.prompt_hash === null ? '' : `  prompt ${cleanText(group.prompt_hash).slice(0, 12)}`;
  const unscored = group.unscored === 0 ? '' : `, ${group.unscored} without a verdict of the judge`;
  const names = group.reviewers.map((name) => (name === '' ? 'unnamed' : cleanText(name)));
  const head = `${style('bold', cleanText(group.dimension))}${style('dim', prompt)}`;
  const mark = group.agreement === null ? '' : group.needs_work ? style('bad', `  under ${formatPercent(limit)}`) : '';
  return [
    `${head}${mark}`,
    ...wrap(`${plural(group.labels, 'label')} by ${names.join(', ')}${unscored}`, width - 2).map((line) => `  ${line}`),
    ...numberLines(group).map((line) => `  ${line}`),
    ...(group.agreement === null ? [] : matrixLines(group.agreement, group.scale ?? []).map((line) => `  ${line}`)),
    ...reviewerLines(group.reviewer_pairs, width).map((line) => `  ${line}`),
    ...disagreementLines(group, width).map((line) => `  ${line}`),
  ];
}

function numberLines({ agreement, spearman, ordinal, scale }: CalibrationGroup): string[] {
  const rows: [string, string][] = [];
  if (agreement !== null) {
    rows.push(['agreement', estimate(agreement.agreement, formatPercent)]);
    rows.push(['kappa', agreement.kappa === null ? `${NONE} only one category occurs` : estimate(agreement.kappa)]);
    if (ordinal && agreement.weighted_kappa !== null) {
      rows.push(['weighted kappa', estimate(agreement.weighted_kappa)]);
    }
  }
  if (spearman !== null) rows.push(['Spearman', estimate(spearman)]);
  if (agreement === null && scale !== null)
    rows.push(['agreement', `${NONE} the judge gave numbers that are on no scale`]);
  return table([{ title: '' }, { title: '95 % interval in brackets' }], rows);
}

/** Rows are human labels, columns the judge's. */
function matrixLines({ confusion }: Agreement, scale: readonly string[]): string[] {
  if (scale.length > MATRIX || confusion.length === 0) return [];
  const names = scale.map(cleanText);
  const counts = confusion.map((row) => row.map(String));
  const lines = table(
    [{ title: 'human \\ judge' }, ...names.map((title) => ({ title, align: 'right' as const }))],
    counts.map((row, i) => [padStart(names[i] ?? '', 13), ...row]),
  );
  return ['', ...lines];
}

function reviewerLines(pairs: readonly ReviewerPair[], width: number): string[] {
  if (pairs.length === 0) return [];
  return [
    '',
    ...pairs.flatMap(({ first, second, agreement, spearman }) => {
      const kappa = agreement?.kappa ?? null;
      const weighted = agreement?.weighted_kappa ?? null;
      const numbers = [
        agreement === null ? null : `agreement ${estimate(agreement.agreement, formatPercent)}`,
        kappa === null ? null : `kappa ${estimate(kappa)}`,
        weighted === null ? null : `weighted ${estimate(weighted)}`,
        spearman === null ? null : `Spearman ${estimate(spearman)}`,
      ].filter((part) => part !== null);
      const text = `${cleanText(first) || 'unnamed'} and ${cleanText(second) || 'unnamed'}: ${numbers.join(', ')}`;
      return wrap(text, width - 2);
    }),
  ];
}

function disagreementLines({ disagreements, agreement }: CalibrationGroup, width: number): string[] {
  if (disagreements.length === 0) return [];
  const shown = disagreements.slice(0, SHOWN);
  const lines = table(
    [
      { title: 'disagree on', max: Math.max(20, width - 50) },
      { title: 'human', max: 12 },
      { title: 'judge', max: 12 },
      { title: 'reviewer', max: 16 },
    ],
    shown.map(({ case_id, trial, human, judge, reviewer }) => [
      `${cleanText(case_id)} ${trial}`,
      human,
      judge,
      cleanText(reviewer),
    ]),
  );
  const more = disagreements.length - shown.length;
  return ['', ...lines, ...(more > 0 ? [`and ${more} more of ${agreement?.pairs ?? 0}; --json lists them all`] : [])];
}
