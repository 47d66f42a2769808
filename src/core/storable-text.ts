/**
 * Postgres refuses NUL characters and lone surrogates in text and jsonb. They are written as U+001A followed by four
 * hexadecimal digits, and U+001A itself the same way, so that reading gives back exactly what was stored.
 */
const MARK = '\u001a';
// oxlint-disable-next-line no-control-regex -- the control characters are the point
const UNSTORABLE = /[\u0000\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPED = /\u001a([0-9a-f]{4})/g; // oxlint-disable-line no-control-regex -- as above
/** Makes a text storable; the same text when nothing has to be escaped. */
export function escapeText(text: string): string {
  return text.replace(UNSTORABLE, (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The inverse of {@link escapeText}. */
export function unescapeText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
