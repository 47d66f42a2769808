import type { Problem } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';

/** Keys and indices from the root of a value to one of its parts. */
export type Path = readonly (string | number)[];

/** 1-based line and column in a file; 0 = the whole file. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/** A value read from a file that knows where each of its parts was written. */
export interface SourceValue {
  value: Json;
  /**
   * Where the part at `path` stands; its nearest ancestor when it has no place of its own.
   * @param target the value (default) or the key that names it
   */
  place: (path: Path, target?: 'key' | 'value') => Place;
  /** Where `text` first occurs inside the part at `path`, as written; the part itself when escapes hide it. */
  placeOfText: (path: Path, text: string) => Place;
  /** Plain numbers whose written form is lost by reading them as numbers: `1.10`, `01234`, `0x1F`. */
  lostForms: readonly { path: Path; written: string }[];
}

/** Takes problems as they are found. */
export type Report = (problem: Problem) => void;

/** `file:line:column`, or the file alone. */
export function formatPlace(place: Place): string {
  return place.line > 0 ? `${place.file}:${place.line}:${place.column}` : place.file;
}

export function errorAt(place: Place, message: string): Problem {
  return { severity: 'error', file: place.file, line: place.line, column: place.column, message };
}

export function warningAt(place: Place, message: string): Problem {
  return { severity: 'warning', file: place.file, line: place.line, column: place.column, message };
}

/** The part of a value at `path`; undefined when there is none. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : undefined;
    else if (isJsonObject(at)) at = Object.hasOwn(at, String(step)) ? at[String(step)] : undefined;
    else return undefined;
  }
  return at;
}

/** The part of a source at `path`, as a source of its own. */
export function partOf(source: SourceValue, path: Path): SourceValue {
  return {
    value: valueAt(source.value, path) ?? null,
    place: (inner, target) => source.place([...path, ...inner], target),
    placeOfText: (inner, text) => source.placeOfText([...path, ...inner], text),
    lostForms: source.lostForms
      .filter((form) => path.every((step, i) => form.path[i] === step))
      .map((form) => ({ path: form.path.slice(path.length), written: form.written })),
  };
}

/** `expected.calls[0].args`; the root is `''`. */
export function formatPath(path: Path): string {
  let out = '';
  for (const step of path) {
    if (typeof step === 'number') out += `[${step}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) out += out === '' ? step : `.${step}`;
    else out += `[${JSON.stringify(step)}]`;
  }
  return out;
}

/** What a value is, in words for an error message. */
export function describe(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null (leave the key out instead)';
  if (typeof value === 'string') return `text ${shorten(JSON.stringify(value))}`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return `${typeof value} ${String(value)}`;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
