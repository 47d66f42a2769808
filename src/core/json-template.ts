import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { setOwn } from './lossless-json.ts';

const NAME = /\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}/g;
const WHOLE = /^\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}$/;

/**
 * A JSON value with every `{{name}}` in its texts filled in. A text that is one name becomes the value itself, of whatever
 * kind; a name inside a text becomes its text, other kinds as JSON. `{{metadata.site}}` names a member. What is not there
 * is null, inside a text nothing. No code, and what was filled in is never looked at again.
 */
export function fillTemplate(template: Json, values: JsonObject): Json {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, values));
  if (!isJsonObject(template)) return template;
  const filled: JsonObject = {};
  for (const [key, value] of Object.entries(template)) setOwn(filled, key, fillTemplate(value, values));
  return filled;
}

function fillText(text: string, values: JsonObject): Json {
  const whole = WHOLE.exec(text);
  if (whole !== null) return valueOf(values, whole[1] ?? '');
  return text.replace(NAME, (_, name: string) => {
    const value = valueOf(values, name);
    if (value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function valueOf(values: JsonObject, name: string): Json {
  let current: Json | undefined = values;
  for (const part of name.split('.')) {
    current = isJsonObject(current) && Object.hasOwn(current, part) ? current[part] : undefined;
  }
  return current ?? null;
}

/** The first parts of all names in a template: what must be known to fill it. */
export function templateNames(template: Json): string[] {
  if (typeof template === 'string') {
    return [...template.matchAll(NAME)].map((match) => (match[1] ?? '').split('.', 1)[0] ?? '');
  }
  if (Array.isArray(template)) return template.flatMap(templateNames);
  return isJsonObject(template) ? Object.values(template).flatMap(templateNames) : [];
}
