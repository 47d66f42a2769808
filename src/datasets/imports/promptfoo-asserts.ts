import type { Expected } from '../../core/case.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** What the asserts of a test become, and which of them have no equal here. */
export interface ConvertedAsserts {
  expected: Expected;
  rubric: string[];
  /** `type: why`, one for each that is not imported. */
  left: string[];
}

export interface AssertOptions {
  /** Whether a pattern can be run here: linear-time, without look-around and back references. */
  isPattern: (pattern: string) => boolean;
}

/** Fills in variables of the test; null where the text needs more than that. */
type Fill = (text: string) => string | null;

/**
 * The asserts of promptfoo that have an equal here: equals, contains, icontains, their -all and -any forms and the negated
 * ones, starts-with, regex, is-json, latency, cost, llm-rubric, model-graded-closedqa, factuality, trajectory:tool-used.
 * Everything else, and what an assert says beyond that (weights, transforms, thresholds), is listed as left.
 */
export function convertAsserts(asserts: readonly Json[], fill: Fill, options: AssertOptions): ConvertedAsserts {
  const converted: ConvertedAsserts = { expected: {}, rubric: [], left: [] };
  for (const raw of asserts) {
    const assert = isJsonObject(raw) ? raw : {};
    const type = typeof assert['type'] === 'string' ? assert['type'] : '(no type)';
    const reason = convert(type, assert, { converted, fill, options });
    if (reason !== null) converted.left.push(`${type}: ${reason}`);
    else for (const key of extras(assert)) converted.left.push(`${type}: its ${key}`);
  }
  return converted;
}

const READ = new Set(['type', 'value', 'metric', 'description']);

/** Keys that change what an assert says and have no equal here. */
function extras(assert: JsonObject): string[] {
  const limit = assert['type'] === 'latency' || assert['type'] === 'cost';
  return Object.keys(assert).filter((key) => {
    if (READ.has(key) || (limit && key === 'threshold')) return false;
    return !(key === 'weight' && assert[key] === 1);
  });
}

interface Conversion {
  converted: ConvertedAsserts;
  fill: Fill;
  options: AssertOptions;
}

/** Null when it is converted, else why not. */
function convert(type: string, assert: JsonObject, conversion: Conversion): string | null {
  const limit = limitOf(type, assert, conversion);
  if (limit !== undefined) return limit;
  if (type === 'is-json') return isJson(assert['value'], conversion);
  const texts = textsOf(assert['value'], conversion.fill);
  if (typeof texts === 'string') return KNOWN.has(type) ? texts : NO_EQUAL;
  return convertTexts(type, texts, conversion);
}

const NO_EQUAL = 'has no equal here';
const KNOWN = new Set(
  (
    'equals contains icontains contains-all icontains-all contains-any icontains-any not-contains regex starts-with ' +
    'llm-rubric model-graded-closedqa model-graded-factuality factuality trajectory:tool-used not-trajectory:tool-used'
  ).split(' '),
);

function convertTexts(type: string, texts: string[], { converted, options }: Conversion): string | null {
  const { expected, rubric } = converted;
  const one = texts.length === 1 ? texts[0] : undefined;
  const add = (key: 'answer_contains' | 'answer_not_contains' | 'must_call' | 'must_not_call', all = texts): null => {
    expected[key] = [...(expected[key] ?? []), ...all];
    return null;
  };
  const match = (pattern: string): string | null => {
    if (!options.isPattern(pattern)) return 'its pattern needs look-around or back references, or is none';
    expected.answer_matches = [...(expected.answer_matches ?? []), pattern];
    return null;
  };
  if (type === 'contains-all') return add('answer_contains');
  if (type === 'icontains-all')
    return texts.map((text) => match(`(?i)${escaped(text)}`)).find((one) => one !== null) ?? null;
  if (type === 'contains-any') return match(`(?:${texts.map(escaped).join('|')})`);
  if (type === 'icontains-any') return match(`(?i)(?:${texts.map(escaped).join('|')})`);
  if (type === 'trajectory:tool-used') return add('must_call');
  if (type === 'not-trajectory:tool-used') return add('must_not_call');
  if (!KNOWN.has(type)) return NO_EQUAL;
  if (one === undefined) return 'expected one text as its value';
  switch (type) {
    case 'equals':
      if (expected.answer_equals !== undefined && expected.answer_equals !== one)
        return 'a second one, with another text';
      expected.answer_equals = one;
      return null;
    case 'contains':
      return add('answer_contains');
    case 'not-contains':
      return add('answer_not_contains');
    case 'icontains':
      return match(`(?i)${escaped(one)}`);
    case 'regex':
      return match(one);
    case 'starts-with':
      return match(`\\A${escaped(one)}`);
    case 'factuality':
    case 'model-graded-factuality':
      if (expected.answer !== undefined) return 'a second one';
      expected.answer = one;
      return null;
    default:
      rubric.push(one);
      return null;
  }
}

/** undefined: it is no limit. */
function limitOf(type: string, assert: JsonObject, { converted }: Conversion): string | null | undefined {
  if (type !== 'latency' && type !== 'cost') return undefined;
  const { threshold } = assert;
  if (typeof threshold !== 'number' || threshold < 0) return 'expected a threshold';
  if (type === 'cost') converted.expected.max_cost = threshold;
  else converted.expected.max_latency_ms = Math.floor(threshold);
  return null;
}

function isJson(value: Json | undefined, { converted }: Conversion): string | null {
  if (converted.expected.answer_json?.schema !== undefined) return 'a second one';
  if (value !== undefined && value !== null && !isJsonObject(value)) return 'its schema is no object';
  converted.expected.answer_json = { schema: isJsonObject(value) ? value : {} };
  return null;
}

/** The texts of a value, or why there are none. */
function textsOf(value: Json | undefined, fill: Fill): string[] | string {
  const list = Array.isArray(value) ? value : [value ?? null];
  const texts: string[] = [];
  for (const item of list) {
    if (typeof item !== 'string' && typeof item !== 'number' && typeof item !== 'boolean') {
      return 'its value is no text';
    }
    const text = String(item);
    if (/^(file|python|https?):\/\//.test(text)) return 'its value is in a file or elsewhere';
    const filled = fill(text);
    if (filled === null) return 'its value is a template with more than variables';
    if (filled === '') return 'its value is empty';
    texts.push(filled);
  }
  return texts;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
