import type { JsonObject } from '../../core/json.ts';
import type { Shape } from './draft.ts';

/** The shape a record is written in, by the keys only that shape has. A record without such keys is canonical. */
export function detectShape(record: JsonObject): Shape {
  const has = (key: string): boolean => Object.hasOwn(record, key);
  if (has('expectedTools') || has('referenceAnswer')) return 'A';
  if (has('query')) return 'C';
  if (has('expect') || has('case') || has('goal')) return 'B';
  if (has('rubric') && !has('expected') && !has('messages') && !has('turns')) return 'D';
  return 'canonical';
}
