import type {
  Agreement,
  Calibration,
  CalibrationGroup,
  Disagreement,
  Estimate,
  ReviewerPair,
} from '../core/calibration.ts';
import type { RatedPair } from './agreement.ts';
import { agreementOf } from './agreement.ts';
import { compareCaseIds } from './case-order.ts';
import { AGREEMENT_LIMIT } from '../core/calibration.ts';
import { atLeast } from '../core/score.ts';
import type { LabelScale } from '../core/label-scale.ts';
import { categoryOf } from '../core/label-scale.ts';
import { spearman } from './spearman.ts';

type Rating = string | number | boolean;

/** A human's label beside what the judge said of the same thing. */
export interface LabelPair {
  case_id: string;
  trial: number;
  dimension: string;
  reviewer: string;
  human: Rating;
  /** A category, or a number that is on no scale; null: the judge gave no verdict. */
  judge: Rating | null;
  /** Hash of the prompt the judge was asked with; null: not known. */
  prompt_hash: string | null;
}

function comparePairs(a: LabelPair, b: LabelPair): number {
  return (
    compareCaseIds(a.case_id, b.case_id) ||
    a.trial - b.trial ||
    compareCaseIds(a.reviewer, b.reviewer) ||
    (String(a.human) < String(b.human) ? -1 : 1)
  );
}

/** Place of a category as a number: its own where categories are numbers, else its place on the scale. */
function numberOf(rating: Rating, scale: LabelScale | null): number | null {
  const written = typeof rating === 'boolean' ? Number(rating) : Number(String(rating).trim() === '' ? 'x' : rating);
  if (Number.isFinite(written)) return written;
  const category = scale === null ? null : categoryOf(rating, scale);
  return scale === null || category === null ? null : scale.categories.indexOf(category);
}

/** Places of two ratings on the scale; null when either is not on it. */
function placesOf(first: Rating, second: Rating, scale: LabelScale): { first: number; second: number } | null {
  const [a, b] = [categoryOf(first, scale), categoryOf(second, scale)];
  if (a === null || b === null) return null;
  return { first: scale.categories.indexOf(a), second: scale.categories.indexOf(b) };
}

function agreementOn(
  pairs: readonly { cluster: string; first: Rating; second: Rating }[],
  scale: LabelScale | null,
): Agreement | null {
  if (scale === null) return null;
  const rated: RatedPair[] = [];
  for (const { cluster, first, second } of pairs) {
    const places = placesOf(first, second, scale);
    if (places === null) return null;
    rated.push({ cluster, ...places });
  }
  return agreementOf(rated, { categories: scale.categories.length, ordinal: scale.ordinal });
}

/** The trial a label is of, as a key that no id can imitate. */
function trialKey({ case_id, trial }: LabelPair): string {
  return JSON.stringify([case_id, trial]);
}

function rankCorrelation(scored: readonly LabelPair[], scale: LabelScale | null): Estimate | null {
  const byTrial = new Map<string, { sum: number; n: number; judge: number }>();
  for (const pair of scored) {
    const human = numberOf(pair.human, scale);
    const judge = pair.judge === null ? null : numberOf(pair.judge, scale);
    if (human === null || judge === null) return null;
    const known = byTrial.get(trialKey(pair)) ?? { sum: 0, n: 0, judge };
    byTrial.set(trialKey(pair), { sum: known.sum + human, n: known.n + 1, judge });
  }
  return spearman([...byTrial.values()].map(({ sum, n, judge }) => [sum / n, judge]));
}

function reviewerPairs(labels: readonly LabelPair[], scale: LabelScale | null): ReviewerPair[] {
  const byReviewer = new Map<string, Map<string, LabelPair>>();
  for (const label of labels) {
    const own = byReviewer.get(label.reviewer) ?? new Map<string, LabelPair>();
    byReviewer.set(label.reviewer, own.set(trialKey(label), label));
  }
  const names = [...byReviewer.keys()].sort(compareCaseIds);
  return names.flatMap((first, i) =>
    names.slice(i + 1).flatMap((second) => {
      const others = byReviewer.get(second);
      const shared = [...(byReviewer.get(first) ?? [])].flatMap(([key, label]) => {
        const other = others?.get(key);
        return other === undefined ? [] : [{ cluster: label.case_id, first: label.human, second: other.human }];
      });
      if (shared.length === 0) return [];
      const numbers = shared.map((pair) => [numberOf(pair.first, scale), numberOf(pair.second, scale)] as const);
      const known = numbers.flatMap(([a, b]) => (a === null || b === null ? [] : [[a, b] as const]));
      return [
        {
          first,
          second,
          agreement: agreementOn(shared, scale),
          spearman: known.length === shared.length ? spearman(known) : null,
        },
      ];
    }),
  );
}

function disagreementsOf(scored: readonly LabelPair[], scale: LabelScale | null): Disagreement[] {
  if (scale === null) return [];
  const found = scored.flatMap((pair) => {
    const places = pair.judge === null ? null : placesOf(pair.human, pair.judge, scale);
    if (places === null || places.first === places.second) return [];
    const [human = '', judge = ''] = [scale.categories[places.first], scale.categories[places.second]];
    const { case_id, trial, reviewer } = pair;
    return [{ apart: Math.abs(places.first - places.second), case_id, trial, reviewer, human, judge }];
  });
  // Stable: within the same distance the order of cases stays.
  const ordered = scale.ordinal ? found.sort((a, b) => b.apart - a.apart) : found;
  return ordered.map(({ case_id, trial, reviewer, human, judge }) => ({ case_id, trial, reviewer, human, judge }));
}

function groupOf(labels: readonly LabelPair[], scale: LabelScale | null, limit: number): CalibrationGroup {
  const [head] = labels;
  const scored = labels.filter((label) => label.judge !== null);
  const agreement = agreementOn(
    scored.map((label) => ({ cluster: label.case_id, first: label.human, second: label.judge ?? '' })),
    scale,
  );
  const share = agreement?.agreement?.value ?? null;
  return {
    dimension: head?.dimension ?? '',
    prompt_hash: head?.prompt_hash ?? null,
    labels: labels.length,
    unscored: labels.length - scored.length,
    reviewers: [...new Set(labels.map(({ reviewer }) => reviewer))].sort(compareCaseIds),
    scale: scale === null ? null : [...scale.categories],
    ordinal: scale?.ordinal ?? false,
    agreement,
    spearman: rankCorrelation(scored, scale),
    reviewer_pairs: reviewerPairs(labels, scale),
    disagreements: agreement === null ? [] : disagreementsOf(scored, scale),
    needs_work: share !== null && !atLeast(share, limit),
  };
}

/**
 * Judge against humans, for each dimension and judge prompt (docs/statistics.md, "Human calibration"). The order of the
 * labels does not matter, to the bit.
 * @param scaleOf categories of a dimension; null: numbers without a scale, for which only ranks are compared
 * @param limit share of agreement below which the rubric needs work; default 0.85
 */
export function calibrate(
  labels: readonly LabelPair[],
  scaleOf: (dimension: string) => LabelScale | null,
  limit: number = AGREEMENT_LIMIT,
): Calibration {
  const byGroup = new Map<string, LabelPair[]>();
  for (const label of [...labels].sort(comparePairs)) {
    const key = JSON.stringify([label.dimension, label.prompt_hash]);
    const group = byGroup.get(key);
    if (group === undefined) byGroup.set(key, [label]);
    else group.push(label);
  }
  const groups = [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => groupOf(group, scaleOf(group[0]?.dimension ?? ''), limit));
  const tables = groups.flatMap(({ agreement }) => (agreement === null ? [] : [agreement]));
  const compared = tables.reduce((sum, { pairs }) => sum + pairs, 0);
  const equal = tables.reduce((sum, one) => sum + one.confusion.reduce((all, row, i) => all + (row[i] ?? 0), 0), 0);
  return {
    schema: 'assay.calibration/1',
    limit,
    labels: labels.length,
    compared,
    agreement: compared === 0 ? null : equal / compared,
    groups,
  };
}
