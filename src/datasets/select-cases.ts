import type { EvalCase } from '../core/case.ts';
import { didYouMean } from '../core/did-you-mean.ts';
import { UserError } from '../core/errors.ts';

const FILTER_KEYS = ['tag', 'category', 'dimension', 'id', 'difficulty'] as const;
type FilterKey = (typeof FILTER_KEYS)[number];

/** Values of one key are alternatives; several keys must all hold. */
export type CaseFilter = { [K in FilterKey]?: readonly string[] } & {
  /** The first so many of what is left. */
  limit?: number;
};

/**
 * Reads `--filter` texts: `tag=safety,category=refunds`; a key given twice, or `tag=a|b`, accepts either value. Commas and
 * bars inside a value are written `\,` and `\|`.
 * @throws UserError for a part without `=` or an unknown key
 */
export function parseFilter(texts: readonly string[]): CaseFilter {
  const filter: Partial<Record<FilterKey, string[]>> = {};
  for (const part of texts.flatMap((text) => splitUnescaped(text, ','))) {
    const equals = part.indexOf('=');
    const key = part.slice(0, Math.max(0, equals)).trim();
    if (equals === -1 || !isFilterKey(key)) {
      const meant = didYouMean(equals === -1 ? part : key, FILTER_KEYS);
      throw new UserError(`--filter ${part}: expected key=value with a key of ${FILTER_KEYS.join(', ')}${meant}`, {
        hint: 'For example: --filter tag=safety,category=refunds',
      });
    }
    const values = splitUnescaped(part.slice(equals + 1), '|').map((value) =>
      value.replace(/\\([,|\\])/g, '$1').trim(),
    );
    filter[key] = [...(filter[key] ?? []), ...values];
  }
  return filter;
}

/**
 * The cases a filter keeps, in their order.
 * @throws UserError (exit 2) when it keeps none, listing what there is
 */
export function selectCases(cases: readonly EvalCase[], filter: CaseFilter): EvalCase[] {
  if (filter.limit !== undefined && (!Number.isInteger(filter.limit) || filter.limit < 1)) {
    throw new UserError(`--limit ${filter.limit}: expected a whole number of at least 1`);
  }
  const keys = FILTER_KEYS.filter((key) => (filter[key]?.length ?? 0) > 0);
  const kept = cases.filter((evalCase) =>
    keys.every((key) => valuesOf(evalCase, key).some((value) => filter[key]?.includes(value) === true)),
  );
  if (kept.length === 0 && cases.length > 0) throw nothingSelected(cases, filter, keys);
  return filter.limit === undefined ? kept : kept.slice(0, filter.limit);
}

function valuesOf(evalCase: EvalCase, key: FilterKey): readonly string[] {
  if (key === 'tag') return evalCase.tags ?? [];
  const value = evalCase[key];
  return value === undefined ? [] : [value];
}

function nothingSelected(cases: readonly EvalCase[], filter: CaseFilter, keys: readonly FilterKey[]): UserError {
  const asked = keys.map((key) => `${key}=${(filter[key] ?? []).join('|')}`).join(',');
  const available = keys.map((key) => {
    const values = new Set(cases.flatMap((evalCase) => valuesOf(evalCase, key)));
    const near = (filter[key] ?? []).map((value) => (values.has(value) ? '' : didYouMean(value, values))).join('');
    const shown = [...values].slice(0, 20).join(', ');
    const more = values.size > 20 ? `, … (${values.size} in all)` : '';
    return values.size === 0 ? `no case has a ${key}` : `${key}: ${shown}${more}${near}`;
  });
  return new UserError(
    `The filter ${asked} selects none of the ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}`,
    {
      hint: `There is: ${available.join('; ')}`,
    },
  );
}

function isFilterKey(key: string): key is FilterKey {
  return (FILTER_KEYS as readonly string[]).includes(key);
}

function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = [''];
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === '\\' && i + 1 < text.length) {
      parts[parts.length - 1] += char + (text[i + 1] ?? '');
      i++;
    } else if (char === separator) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}
