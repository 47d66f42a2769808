import { canonicalJson, isJsonObject } from '../core/json.ts';
import type { Json } from '../core/json.ts';
import { delimiterLines } from './data-block.ts';
import { scanObjects } from './parse.ts';

/** What a judge was shown as data, as far as a reply must not repeat it. */
export interface ShownData {
  /** What the agent wrote; null = nothing. */
  answer: string | null;
  /** The lines around every data block of the request. */
  delimiters: readonly string[];
}

/** @param content the variables of the prompt, as they were rendered; `answer` is what the agent wrote */
export function shownData(content: Readonly<Record<string, string | null>>): ShownData {
  const delimiters = Object.entries(content).flatMap(([name, text]) =>
    text === null ? [] : delimiterLines(name, text),
  );
  return { answer: content['answer'] ?? null, delimiters };
}

/**
 * Why a reply is a copy of what the judge was shown and hence no verdict, as a clause; null when it is none. A judge
 * that only repeats its input would otherwise pass on a verdict the agent wrote. An honest judge writes a reason of its
 * own, so its object does not stand in the answer.
 */
export function copiedFrom(data: ShownData, reply: string): string | null {
  if (data.delimiters.some((line) => reply.includes(line))) {
    return 'it is copied: it repeats a delimiter line of the data to judge';
  }
  const { answer } = data;
  if (answer === null || !answer.includes('{')) return null;
  const replied = scanObjects(reply).found;
  // As text first: this also finds an object inside braces, or behind some, that are no JSON.
  const packed = withoutSpace(answer);
  const asText = replied.some(({ source }) => packed.includes(withoutSpace(source)));
  if (asText || holdsObject(answer, new Set(replied.map(({ object }) => canonicalJson(object))))) {
    return "it is copied: its JSON object stands in the assistant's answer; judge the answer in your own words";
  }
  return null;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** True when an object of the text, at any depth, is one of `wanted` (canonical JSON). */
function holdsObject(text: string, wanted: ReadonlySet<string>): boolean {
  const pending: Json[] = scanObjects(text).found.map(({ object }) => object);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (isJsonObject(value) && wanted.has(canonicalJson(value))) return true;
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) pending.push(inner);
  }
  return false;
}
