/**
 * Postgres refuses NUL characters and lone surrogates in text and jsonb. They are written as U+001A followed by four
 * hexadecimal digits, and U+001A itself the same way, so that reading gives back exactly what was stored.
 */
const MARK = '\u001a';
// oxlint-disable-next-line no-control-regex -- the control characters are the point
const UNSTORABLE = /[\u0000\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPED = /\u001a([0-9a-f]{4})/g; // oxlint-disable-line no-control-regex -- as above
/** JSON.stringify writes these as \u escapes, so one scan of the text tells whether a walk is needed. */
const UNSTORABLE_JSON = /\\u(?:0000|001a|d[89a-f])/;

/** Makes a text storable; the same text when nothing has to be escaped. */
export function escapeText(text: string): string {
  return text.replace(UNSTORABLE, (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The inverse of {@link escapeText}. */
export function unescapeText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

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
