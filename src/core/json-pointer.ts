import { isJsonObject, type Json } from './json.ts';

/** The value a JSON pointer (RFC 6901) names; undefined when there is none. `""` is the whole value. Own members only. */
export function atPointer(value: Json, pointer: string): Json | undefined {
  if (pointer === '') return value;
  let current: Json | undefined = value;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) current = /^(0|[1-9]\d*)$/.test(key) ? current[Number(key)] : undefined;
    else if (isJsonObject(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current;
}
