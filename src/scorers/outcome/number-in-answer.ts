import type { Criterion } from './criterion.ts';
import { foldText } from '../values/normalise-text.ts';
import { preview } from '../values/preview.ts';
import type { ScoringInput } from '../scorer.ts';

const NUMBER = /(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)*(?:[eE][+-]?\d{1,3}(?![A-Za-z\d]))?/g;
const MOST_SHOWN = 10;

/**
 * Numbers written in a text, in order: thousands separators (`1,523.5`), decimals, exponents, full-width digits, a minus sign
 * where it is one (`-5`, not `3-5`). Digits of words and versions (`TC-001`, `v2`, `2.3.1`) are no numbers.
 */
export function numbersIn(text: string): number[] {
  const folded = foldText(text).replace(/\u2212/g, '-');
  const found: number[] = [];
  for (const match of folded.matchAll(NUMBER)) {
    const before = folded.slice(Math.max(0, match.index - 2), match.index);
    if (/[A-Za-z_\d.]$/.test(before) && !/(?:^|[^\d.])\.$/.test(before)) continue;
    if (/[A-Za-z_]-$/.test(before) || match[0].split('.').length > 2) continue;
    const negative = before.endsWith('-') && !/[\d)\]%]-$/.test(before);
    const fraction = before.endsWith('.') ? '0.' : '';
    const value = Number(fraction + match[0].replaceAll(',', ''));
    if (Number.isFinite(value)) found.push(negative ? -value : value);
  }
  return found;
}

/** `expected.number`: some number in the answer is within `tolerance` (absolute, default 0) of `value`. */
export function numberInAnswer({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const wanted = evalCase.expected.number;
  if (wanted === undefined) return [];
  const { value, tolerance = 0 } = wanted;
  const words = tolerance === 0 ? `${value}` : `${value} ± ${tolerance}`;
  if (trajectory.answer === null) return [{ holds: false, reason: `wanted ${words}, but the agent gave no answer` }];
  const numbers = numbersIn(trajectory.answer);
  const slack = 1e-12 * Math.max(1, Math.abs(value));
  const holds = numbers.some((number) => Math.abs(number - value) <= tolerance + slack);
  const got =
    numbers.length === 0 ? `no number in ${preview(trajectory.answer)}` : numbers.slice(0, MOST_SHOWN).join(', ');
  return [{ holds, reason: holds ? `${words} found` : `wanted ${words} in the answer, got ${got}` }];
}
