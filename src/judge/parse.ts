import { canonicalJson, isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** The one JSON object of a reply, or why there is none. `error` is a sentence the judge is shown in the repair request. */
export type ParsedReply = { ok: true; object: JsonObject } | Unparsed;
interface Unparsed {
  ok: false;
  error: string;
}

interface FoundObject {
  object: JsonObject;
  /** As written. */
  source: string;
}

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
/** Deeper than any verdict; keeps recursion over untrusted text bounded. */
const MAX_DEPTH = 100;
const NOT_CLOSED = -1;
const TOO_DEEP = -2;

/**
 * Finds the one JSON object of a judge's reply. Code fences, closed `<think>` blocks and prose around it are passed
 * over; text inside strings is never looked at nor changed. Everything doubtful is an error, never a guess: no object,
 * two different objects, an unclosed `<think>` or `{`, a key written twice.
 */
export function parseReply(text: string): ParsedReply {
  const scan = scanObjects(text);
  if (scan.fault !== null) return failure(scan.fault);
  const [first, ...others] = scan.found;
  if (first === undefined) return failure('it holds no JSON object');
  if (others.length > 0) {
    const canonical = canonicalJson(first.object);
    if (others.some((other) => canonicalJson(other.object) !== canonical)) {
      return failure('it holds two different JSON objects');
    }
  }
  for (const { source } of scan.found) {
    const twice = repeatedKey(source);
    if (twice !== null) return failure(`the key "${twice}" is given twice`);
  }
  return { ok: true, object: first.object };
}

/**
 * The JSON objects of a text that do not lie in another one, `<think>` blocks passed over; up to the place given by
 * `fault`, a clause that says why nothing behind it can be read (null: the text was read to its end).
 */
export function scanObjects(text: string): { found: FoundObject[]; fault: string | null } {
  const found: FoundObject[] = [];
  let position = 0;
  while (position < text.length) {
    const next = nextMark(text, position);
    if (next === -1) break;
    if (text[next] === '<') {
      const close = indexOfIgnoreCase(text, THINK_CLOSE, next);
      if (close === -1) return { found, fault: 'a <think> block is not closed' };
      position = close + THINK_CLOSE.length;
      continue;
    }
    const end = endOfBraces(text, next);
    if (end === NOT_CLOSED) return { found, fault: 'a JSON object is not closed' };
    if (end === TOO_DEEP) return { found, fault: `a JSON object is nested deeper than ${MAX_DEPTH}` };
    const source = text.slice(next, end);
    const object = tryParse(source);
    if (object !== null) found.push({ object, source });
    position = end;
  }
  return { found, fault: null };
}

/** True when an endpoint answered with a web page in place of a reply (a proxy's error page with status 200). */
export function isHtml(text: string): boolean {
  return /^\s*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html|head|body)[\s>]/i.test(text);
}

function failure(error: string): Unparsed {
  return { ok: false, error };
}

/** Position of the next `{` or `<think>` outside of any object; -1 when there is none. */
function nextMark(text: string, from: number): number {
  for (let i = from; i < text.length; i += 1) {
    const char = text[i];
    if (char === '{') return i;
    if (char === '<' && text.slice(i, i + THINK_OPEN.length).toLowerCase() === THINK_OPEN) return i;
  }
  return -1;
}

function indexOfIgnoreCase(text: string, wanted: string, from: number): number {
  for (let i = text.indexOf('<', from); i !== -1; i = text.indexOf('<', i + 1)) {
    if (text.slice(i, i + wanted.length).toLowerCase() === wanted) return i;
  }
  return -1;
}

/** End (exclusive) of the braces opened at `start`, strings respected; NOT_CLOSED or TOO_DEEP when there is none. */
function endOfBraces(text: string, start: number): number {
  let braces = 0;
  let brackets = 0;
  let inString = false;
  for (let i = start; i < text.length; i += 1) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[') brackets += 1;
    else if (char === ']') brackets -= 1;
    else if (char === '{') braces += 1;
    else if (char === '}') {
      braces -= 1;
      if (braces === 0) return i + 1;
    }
    if (braces + brackets > MAX_DEPTH) return TOO_DEEP;
  }
  return NOT_CLOSED;
}

/** Null for braces that are prose (`{note}`): they are passed over whole, so nothing inside them can be a verdict. */
function tryParse(source: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(source);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The first top-level key that occurs twice, ignoring case: JSON.parse would keep the last and hide the other. */
function repeatedKey(source: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  for (let i = 0; i < source.length; i += 1) {
    const char = source[i];
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === '"') {
      const end = endOfString(source, i);
      if (depth === 1 && isKey(source, end)) {
        const key = String(JSON.parse(source.slice(i, end))).toLowerCase();
        if (seen.has(key)) return key;
        seen.add(key);
      }
      i = end - 1;
    }
  }
  return null;
}

function endOfString(source: string, start: number): number {
  let i = start + 1;
  while (i < source.length && source[i] !== '"') i += source[i] === '\\' ? 2 : 1;
  return i + 1;
}

function isKey(source: string, after: number): boolean {
  let i = after;
  while (i < source.length && ' \t\r\n'.includes(source[i] ?? '')) i += 1;
  return source[i] === ':';
}
