import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/**
 * Checks results of tools against the schemas their server declared, but for its patterns: one such as `(a+)+$` would hold
 * the whole worker for as long as the server likes.
 */
export function createOutputValidator(): Pick<AjvJsonSchemaValidator, 'getValidator'> {
  const full = new AjvJsonSchemaValidator();
  return { getValidator: (schema) => full.getValidator(withoutPatterns(schema as Json) as typeof schema) };
}

/** A schema that accepts what the given one accepts, and what only its patterns refuse. */
function withoutPatterns(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (!isJsonObject(schema)) return schema;
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    // Where it is an object or a list, `pattern` is a property of that name.
    const matches = (key === 'pattern' || key === 'format') && typeof value === 'string';
    const byPattern = isJsonObject(schema['patternProperties']) && BY_PATTERN.has(key);
    if (!matches && !byPattern) kept[key] = withoutPatterns(value);
  }
  return kept;
}

/** Keywords that say nothing, or too much, once property names are not matched. */
const BY_PATTERN: ReadonlySet<string> = new Set(['patternProperties', 'additionalProperties', 'unevaluatedProperties']);
