import { escapeText, unescapeText } from '../core/storable-text.ts';

/** JSON.stringify writes these as \u escapes, so one scan of the text tells whether a walk is needed. */
const UNSTORABLE_JSON = /\\u(?:0000|001a|d[89a-f])/;

/** A value as JSON text that Postgres accepts as jsonb; keys are escaped too. */
export function toJsonb(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return UNSTORABLE_JSON.test(text) ? JSON.stringify(mapStrings(value, escapeText)) : text;
}

/** Parses stored jsonb text and restores what {@link toJsonb} escaped. */
export function fromJsonb(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\u001a') ? mapStrings(value, unescapeText) : value;
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map)]));
}
