import { canonicalJson, isJsonObject } from '../core/json.ts';
import type { Json } from '../core/json.ts';
import { delimiterLines } from './data-block.ts';
import type { PromptVariable } from './dimensions/dimension.ts';
import { scanObjects } from './parse.ts';

/** What a judge was shown as data, as far as a reply must not repeat it. */
export interface ShownData {
  /** What the system under test wrote, or had a part in: answer, steps, plan … */
  written: readonly string[];
  /** The lines around every data block of the request. */
  delimiters: readonly string[];
}

/** @param content the content of the prompt's variables, as it was rendered */
export function shownData(
  content: Readonly<Record<string, string | null>>,
  variables: readonly PromptVariable[],
): ShownData {
  const delimiters = Object.entries(content).flatMap(([name, text]) =>
    text === null ? [] : delimiterLines(name, text),
  );
  const written = variables.filter(({ fromAgent }) => fromAgent).flatMap(({ name }) => content[name] ?? []);
  return { written, delimiters };
}

/**
 * Why a reply is a copy of what the judge was shown and hence no verdict, as a clause; null when it is none. A judge
 * that only repeats its input would otherwise pass on a verdict the agent wrote. An honest judge writes a reason of its
 * own, so its object does not stand in what the agent wrote.
 */
export function copiedFrom(data: ShownData, reply: string): string | null {
  if (data.delimiters.some((line) => reply.includes(line))) {
    return 'it is copied: it repeats a delimiter line of the data to judge';
  }
  const written = data.written.filter((text) => text.includes('{'));
  if (written.length === 0) return null;
  const replied = scanObjects(reply).found;
  const sources = replied.map(({ source }) => bare(source));
  const wanted = new Set(replied.map(({ object }) => canonicalJson(object)));
  if (written.some((text) => standsAsText(text, sources) || holdsObject(text, wanted))) {
    return 'it is copied: its JSON object stands in what the assistant wrote; judge that in your own words';
  }
  return null;
}

/** As text first: this also finds an object inside braces, or behind some, that are no JSON, and one inside a JSON string. */
function standsAsText(text: string, sources: readonly string[]): boolean {
  const packed = bare(text);
  return sources.some((source) => packed.includes(source));
}

/** Without white space and backslashes, so that neither layout nor escaping hides a copy. */
function bare(text: string): string {
  return text.replace(/\\[nrt]/g, '').replace(/[\s\\]+/g, '');
}

/** True when an object of the text, at any depth and in JSON strings too, is one of `wanted` (canonical JSON). */
function holdsObject(text: string, wanted: ReadonlySet<string>): boolean {
  const pending: Json[] = [text];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') {
      if (value.includes('{')) pending.push(...scanObjects(value).found.map(({ object }) => object));
    } else if (typeof value === 'object' && value !== null) {
      if (isJsonObject(value) && wanted.has(canonicalJson(value))) return true;
      for (const inner of Object.values(value)) pending.push(inner);
    }
  }
  return false;
}
