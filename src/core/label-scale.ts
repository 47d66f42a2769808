import { atLeast } from './score.ts';
import type { JudgeDimension } from './suite.ts';

/** The categories humans and the judge put a trial into, in their order. */
export interface LabelScale {
  categories: readonly string[];
  /** True when the categories have an order, so that some disagreements are wider than others. */
  ordinal: boolean;
  /** Words and numbers that mean a category, in small letters. */
  alias: Readonly<Record<string, string>>;
  /** For labels that may also be a number in [0,1]: from where it passes. Null: numbers are none but those of `alias`. */
  passesAt: number | null;
}

const PASS_FAIL = { true: 'pass', yes: 'pass', passed: 'pass', false: 'fail', no: 'fail', failed: 'fail' };

function passFail(passesAt: number | null): LabelScale {
  const binary = passesAt === null ? { '1': 'pass', '0': 'fail' } : {};
  return { categories: ['fail', 'pass'], ordinal: false, alias: { ...PASS_FAIL, ...binary }, passesAt };
}

const LIKERT: LabelScale = { categories: ['1', '2', '3', '4', '5'], ordinal: true, alias: {}, passesAt: null };

/** What a human label of each judge dimension is: the judge's own scale, or pass and fail where that is a number in [0,1]. */
export const LABEL_SCALES: Readonly<Record<JudgeDimension, LabelScale>> = {
  task_completion: {
    categories: ['failure', 'partial', 'success'],
    ordinal: true,
    alias: { '0': 'failure', '0.5': 'partial', '1': 'success' },
    passesAt: null,
  },
  answer_quality: passFail(0.75),
  tool_selection: passFail(null),
  prompt_assembly: passFail(null),
  subagent_isolation: passFail(null),
  rag_recall: LIKERT,
  answer_completeness: LIKERT,
  multi_turn_coherence: LIKERT,
  trajectory: passFail(null),
  plan_quality: passFail(0.7),
  plan_consistency: passFail(0.7),
};

/** The scale of a dimension; null for one that is not the judge's. */
export function labelScale(dimension: string): LabelScale | null {
  return Object.hasOwn(LABEL_SCALES, dimension) ? LABEL_SCALES[dimension as JudgeDimension] : null;
}

/** A scale of categories as a user lists them, in their order. */
export function declaredScale(categories: readonly string[], ordinal: boolean): LabelScale {
  return { categories: categories.map((one) => one.trim().toLowerCase()), ordinal, alias: {}, passesAt: null };
}

/** The category of a written label; null when it is none of the scale's. */
export function categoryOf(label: string | number | boolean, scale: LabelScale): string | null {
  const text = String(label).trim().toLowerCase();
  const number = text === '' ? Number.NaN : Number(text);
  if (scale.categories.includes(text)) return text;
  if (Object.hasOwn(scale.alias, text)) return scale.alias[text] ?? null;
  if (!Number.isFinite(number)) return null;
  if (scale.passesAt !== null && number >= 0 && number <= 1) return atLeast(number, scale.passesAt) ? 'pass' : 'fail';
  // `4.0` is 4.
  const plain = String(number);
  if (scale.categories.includes(plain)) return plain;
  return Object.hasOwn(scale.alias, plain) ? (scale.alias[plain] ?? null) : null;
}

/** `1, 2, 3, 4 or 5`; with numbers where those are taken too. */
export function scaleText({ categories, passesAt }: LabelScale): string {
  const words = `${categories.slice(0, -1).join(', ')} or ${categories.at(-1) ?? ''}`;
  return passesAt === null ? words : `${words}, or a number from 0 to 1 (passes from ${passesAt})`;
}

/** The label a stored judge score stands for: an average over votes goes to the nearest, a half to the upper one, as it passes. */
export function labelOfScore(
  dimension: JudgeDimension,
  score: { value: number | null; passed: boolean | null },
): string | null {
  const { categories, ordinal } = LABEL_SCALES[dimension];
  if (!ordinal) return score.passed === null ? null : score.passed ? 'pass' : 'fail';
  if (score.value === null) return null;
  return categories[Math.round(score.value * (categories.length - 1))] ?? null;
}
