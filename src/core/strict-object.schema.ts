import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';

/** Any JSON value, taken by reference: nothing inside is copied, renamed or dropped. */
export const json = z.custom<Json>((value) => value !== undefined, { error: 'expected a value' });

/** Any JSON object, taken by reference. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, { error: 'expected an object (key: value)' });

/**
 * A key that may be left out. As `exactOptional()`, which runs the schema to see that a key is missing: a union words an
 * error for each of its members then, in every case of a dataset. JSON and YAML have no undefined to tell them apart.
 */
export function optionalUnion<Schema extends z.ZodUnion>(schema: Schema): z.ZodExactOptional<Schema> {
  return schema.optional() as unknown as z.ZodExactOptional<Schema>;
}

/**
 * An object without unknown keys. The message of an unknown key has one line a key, in the order of the issue's `keys`,
 * with what was probably meant and the list of known ones.
 * @param hints what to say of some unknown keys instead
 * @param alsoKnown keys that are read before this schema is applied
 */
export function strictObject<Shape extends z.core.$ZodShape>(
  shape: Shape,
  hints: Record<string, string> = {},
  alsoKnown: readonly string[] = [],
): z.ZodObject<Shape, z.core.$strict> {
  const known = [...Object.keys(shape), ...alsoKnown];
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      return issue.keys
        .map((key: string) => {
          const hint = hints[key];
          if (hint !== undefined) return `unknown key "${key}": ${hint}`;
          return `unknown key "${key}"${didYouMean(key, known)}; known here: ${known.join(', ')}`;
        })
        .join('\n');
    },
  });
}
