import type { Criterion } from './criterion.ts';
import { foldText } from '../values/normalise-text.ts';
import { preview } from '../values/preview.ts';
import type { ScoringInput } from '../scorer.ts';

const RUN = /\d+(?:,\d+)*/g;
/** Letters that make a word with the digits after them. Chinese and its like do not: `共12度` holds 12. */
const IN_WORD = /[\p{Lu}\p{Ll}_\d.]$/u;
const JOINED_TO_WORD = /[\p{Lu}\p{Ll}_]-$/u;
const CURRENCY = /\p{Sc}$/u;
/** What may follow the whole part: decimals (several: a version) and an exponent. */
const REST = /(?:\.\d+)*(?:[eE][+-]?\d{1,3}(?![A-Za-z\d]))?/y;
const MOST_SHOWN = 10;

/**
 * Numbers written in a text, in order: thousands separators (`1,523.5`), decimals, exponents, full-width digits, a minus sign
 * where it is one (`-5`, `-$5`, not `3-5`). Digits of words and versions (`TC-001`, `v2`, `2.3.1`) are no numbers.
 */
export function numbersIn(text: string): number[] {
  const folded = foldText(text).replace(/\u2212/g, '-');
  const found: number[] = [];
  for (const { start, digits } of writtenNumbers(folded)) {
    const before = folded.slice(Math.max(0, start - 2), start);
    if (IN_WORD.test(before) && !/(?:^|[^\d.])\.$/.test(before)) continue;
    if (JOINED_TO_WORD.test(before) || digits.split('.').length > 2) continue;
    const sign = CURRENCY.test(before) ? folded.slice(Math.max(0, start - 3), start - 1) : before;
    const negative = sign.endsWith('-') && !/[\d)\]%]-$/.test(sign);
    const fraction = before.endsWith('.') ? '0.' : '';
    const value = Number(fraction + digits.replaceAll(',', ''));
    if (Number.isFinite(value)) found.push(negative ? -value : value);
  }
  return found;
}

/**
 * Numbers as written, decimals and exponent included. Commas part thousands where groups of three reach to the end of the
 * run; before that they part numbers. Linear in the text, whatever an agent writes.
 */
function* writtenNumbers(text: string): Generator<{ start: number; digits: string }> {
  RUN.lastIndex = 0;
  for (let run = RUN.exec(text); run !== null; run = RUN.exec(text)) {
    const [digits] = run;
    const end = run.index + digits.length;
    const parts = text[end] === ',' ? digits.split(',') : groupThousands(digits.split(','));
    REST.lastIndex = end;
    const rest = REST.exec(text)?.[0] ?? '';
    let start = run.index;
    for (const [at, part] of parts.entries()) {
      yield { start, digits: at === parts.length - 1 ? part + rest : part };
      start += part.length + 1;
    }
    RUN.lastIndex = end + rest.length;
  }
}

/** `['1', '30', '619']` as `['1', '30,619']`. */
function groupThousands(parts: string[]): string[] {
  let first = parts.length - 1;
  while (first > 0 && parts[first]?.length === 3) first -= 1;
  if ((parts[first]?.length ?? 0) > 3) first += 1;
  return first >= parts.length - 1 ? parts : [...parts.slice(0, first), parts.slice(first).join(',')];
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
