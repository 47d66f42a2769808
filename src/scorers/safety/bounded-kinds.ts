import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isMatcher } from '../../core/matcher-object.ts';

/** Keywords of a schema that bound one kind of value only: JSON Schema lets every other kind pass. */
const KINDS: readonly [string, readonly string[]][] = [
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['string', ['minLength', 'maxLength', 'pattern']],
  ['array', ['minItems', 'maxItems', 'items', 'prefixItems']],
  ['object', ['properties', 'required', 'additionalProperties']],
];

/**
 * Allowed arguments in which a schema allows only the kind of value it bounds: `{maximum: 1000}` says nothing of the text
 * `"5000"`, and what an allow list does not name is forbidden. A schema that states its type is left as it is.
 */
export function withBoundedKinds(args: JsonObject): JsonObject {
  return mapped(args, inValue);
}

function inValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(inValue);
  if (!isJsonObject(value)) return value;
  if (!isMatcher(value)) return mapped(value, inValue);
  return mapped(value, (operand, keyword) => {
    if (keyword === 'schema') return inSchema(operand);
    return keyword === 'equals' ? operand : inValue(operand);
  });
}

function inSchema(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const parts = mapped(schema, (part, keyword) => {
    if (keyword === 'properties') return isJsonObject(part) ? mapped(part, inSchema) : part;
    if (['items', 'additionalProperties'].includes(keyword)) return inSchema(part);
    if (!['prefixItems', 'allOf', 'anyOf', 'oneOf'].includes(keyword)) return part;
    return Array.isArray(part) ? part.map(inSchema) : part;
  });
  if (['type', 'enum', 'const'].some((keyword) => Object.hasOwn(schema, keyword))) return parts;
  const kinds = KINDS.filter(([, keywords]) => keywords.some((keyword) => Object.hasOwn(schema, keyword)));
  return kinds.length === 0 ? parts : { ...parts, type: kinds.map(([kind]) => kind) };
}

/** The members changed; `__proto__` is one like any other. */
function mapped(value: JsonObject, change: (member: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member, key)]));
}
