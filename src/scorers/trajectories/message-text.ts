import { isJsonObject } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';

/** Text of a message: a string, or the text parts of a list of parts. */
export function textOf(content: Json): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts = content.flatMap((part) => {
    const text = isJsonObject(part) ? part['text'] : null;
    return typeof text === 'string' ? [text] : [];
  });
  return parts.length === 0 ? null : parts.join('');
}
