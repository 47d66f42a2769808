import { InputError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { categoryOf, declaredScale, labelScale, scaleText } from '../../core/label-scale.ts';
import type { LabelScale } from '../../core/label-scale.ts';
import type { LabelRow } from '../../datasets/read-labels.ts';

/** Scale by dimension; null: numbers that are on no scale, of which only ranks are compared. */
export type Scales = ReadonlyMap<string, LabelScale | null>;

/** Different values beyond which labels are numbers and not categories. */
const MOST_CATEGORIES = 20;

/**
 * The scale of each dimension in a file of labels: the judge's own; else the one the user declares; else the categories
 * found, without an order.
 * @returns found: dimensions whose scale is no more than what was found
 */
export function scalesOf(
  rows: readonly LabelRow[],
  declared: readonly string[] | undefined,
): { scales: Scales; found: string[] } {
  const byDimension = new Map<string, LabelRow[]>();
  for (const row of rows) {
    const own = byDimension.get(row.dimension);
    if (own === undefined) byDimension.set(row.dimension, [row]);
    else own.push(row);
  }
  const found: string[] = [];
  const scales = new Map<string, LabelScale | null>();
  for (const [dimension, own] of byDimension) {
    const known = labelScale(dimension) ?? (declared === undefined ? null : declaredScale(declared, true));
    const scale = known ?? foundScale(own);
    scales.set(dimension, scale);
    if (known === null && scale !== null) found.push(dimension);
  }
  return { scales, found };
}

function foundScale(rows: readonly LabelRow[]): LabelScale | null {
  const values = new Set(
    rows.flatMap(({ label, judge }) => [label, judge ?? label]).map((value) => String(value).trim().toLowerCase()),
  );
  const fractional = [...values].some(
    (value) => value !== '' && !Number.isInteger(Number(value)) && !Number.isNaN(Number(value)),
  );
  if (fractional || values.size > MOST_CATEGORIES) return null;
  return declaredScale([...values].sort(), false);
}

/**
 * Every label must be on the scale of its dimension. What the judge says may also be a number beside it: its ranks are
 * compared then.
 * @throws InputError with every label that is not
 */
export function checkLabels(rows: readonly LabelRow[], scales: Scales): void {
  const problems = rows.flatMap((row) => {
    const scale = scales.get(row.dimension);
    if (scale === undefined || scale === null) return numberProblems(row);
    const found: Problem[] = [];
    const expected = `expected ${scaleText(scale)}`;
    if (categoryOf(row.label, scale) === null) found.push(problemAt(row, `label "${row.label}": ${expected}`));
    const { judge } = row;
    if (judge !== undefined && judge !== null && categoryOf(judge, scale) === null && !isNumber(judge)) {
      found.push(problemAt(row, `judge "${judge}": ${expected}`));
    }
    return found;
  });
  if (problems.length > 0) throw new InputError(problems);
}

function numberProblems(row: LabelRow): Problem[] {
  const expected = 'expected a number, as in the other lines of this dimension; or declare its categories with --scale';
  return [row.label, row.judge ?? 0]
    .filter((value) => !isNumber(value))
    .map((value) => problemAt(row, `"${value}": ${expected}`));
}

function isNumber(value: string | number | boolean): boolean {
  return typeof value !== 'boolean' && String(value).trim() !== '' && Number.isFinite(Number(value));
}

function problemAt(row: LabelRow, text: string): Problem {
  return { severity: 'error', ...row.place, message: `${row.dimension} of case ${row.case_id}: ${text}` };
}
