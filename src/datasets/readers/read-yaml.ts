import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Alias, Document, Node, Pair, YAMLMap } from 'yaml';
import type { Json, JsonObject } from '../../core/json.ts';
import { MAX_JSON_DEPTH, numberOf, setOwn } from '../../core/lossless-json.ts';
import { errorAt } from './source.ts';
import type { Path, Place, Report, SourceValue } from './source.ts';

const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH} levels`;
/** How the yaml package reports that it ran out of stack where it does not throw. */
const OUT_OF_STACK = /Maximum call stack/;

/** Most nodes that aliases may add to a document: an alias bomb is refused long before memory is. */
const MAX_ALIAS_NODES = 10_000;

/**
 * Parses YAML 1.2 (core schema) with the place of every part: `NO` and `yes` are text, there are no custom tags, no
 * duplicate keys, no tab indentation, at most {@link MAX_JSON_DEPTH} levels, and aliases are bounded. Problems are
 * reported; null when the text cannot be used.
 */
export function parseYamlSource(text: string, file: string, report: Report): SourceValue | null {
  // CR LF and CR are line breaks to YAML, and read as LF; the yaml package does not know a CR alone.
  const normal = text.replace(/\r\n?/g, '\n');
  const lines = new LineCounter();
  const document = parse(normal, lines, file, report);
  if (document === null) return null;
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const found = [...document.errors, ...document.warnings];
  const [tooDeep] = found.filter((error) => OUT_OF_STACK.test(error.message)).sort((a, b) => a.pos[0] - b.pos[0]);
  // Once: there is one such error for each of thousands of levels.
  if (tooDeep !== undefined) report(errorAt(placeAt(tooDeep.pos[0]), TOO_DEEP));
  else for (const error of found) report(errorAt(placeAt(error.pos[0]), yamlMessage(error.message)));
  if (found.length > 0) return null;
  const builder = new YamlBuilder(document, (node, message) => report(errorAt(placeAt(startOf(node)), message)));
  const value = builder.build(document.contents, [], 0);
  if (builder.failed) return null;
  const offsetOf = (path: Path, target: 'key' | 'value'): number => locate(document, path, target);
  return {
    value,
    place: (path, target) => placeAt(offsetOf(path, target ?? 'value')),
    placeOfText: (path, needle) => {
      const start = offsetOf(path, 'value');
      const at = normal.indexOf(needle, start);
      return placeAt(at === -1 ? start : at);
    },
    lostForms: builder.lostForms,
  };
}

function parse(text: string, lines: LineCounter, file: string, report: Report): Document | null {
  try {
    return parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, version: '1.2' });
  } catch (error) {
    // The yaml package composes recursively: its only way to fail on text is to run out of stack.
    if (!(error instanceof RangeError)) throw error;
    const line = text.split('\n').findIndex((candidate) => /(?:[[{]\s*){100}|(?:[-?]\s+){100}/.test(candidate));
    report(errorAt({ file, line: Math.max(0, line) + 1, column: 1 }, TOO_DEEP));
    return null;
  }
}

function yamlMessage(message: string): string {
  if (/Map keys must be unique/.test(message)) return 'duplicate key';
  if (message.startsWith('Unresolved tag'))
    return `custom tags are not allowed (${message.replace('Unresolved tag: ', '')})`;
  if (/multiple documents/.test(message)) return 'expected one YAML document; use a list (- …) for several cases';
  return `not YAML: ${message}`;
}

function startOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}

class YamlBuilder {
  readonly lostForms: { path: Path; written: string }[] = [];
  failed = false;
  readonly #document: Document;
  readonly #report: (node: Node | null, message: string) => void;
  #aliasDepth = 0;
  #aliasNodes = 0;

  constructor(document: Document, report: (node: Node | null, message: string) => void) {
    this.#document = document;
    this.#report = report;
  }

  build(node: unknown, path: Path, depth: number): Json {
    if (this.failed || node === null || node === undefined) return null;
    if (depth > MAX_JSON_DEPTH) return this.#fail(node as Node, TOO_DEEP);
    if (this.#aliasDepth > 0 && ++this.#aliasNodes > MAX_ALIAS_NODES) {
      return this.#fail(node as Node, `aliases expand to more than ${MAX_ALIAS_NODES} values`);
    }
    if (isAlias(node)) return this.#alias(node, path, depth);
    if (isMap(node)) return this.#map(node, path, depth);
    if (isSeq(node)) return node.items.map((item, i) => this.build(item, [...path, i], depth + 1));
    if (isScalar(node)) return this.#scalar(node, path);
    return this.#fail(node as Node, 'not a value');
  }

  #alias(node: Alias, path: Path, depth: number): Json {
    const target = node.resolve(this.#document);
    if (target === undefined) return this.#fail(node, `unknown alias *${node.source}`);
    this.#aliasDepth++;
    const value = this.build(target, path, depth + 1);
    this.#aliasDepth--;
    return value;
  }

  #map(node: YAMLMap, path: Path, depth: number): Json {
    const object: JsonObject = {};
    for (const pair of node.items as Pair[]) {
      const key = keyOf(pair);
      if (key === null) return this.#fail((pair.key as Node | null) ?? node, 'a key must be text');
      if (Object.hasOwn(object, key)) return this.#fail(pair.key as Node, `duplicate key "${key}"`);
      setOwn(object, key, this.build(pair.value, [...path, key], depth + 1));
    }
    return object;
  }

  #scalar(node: Node & { value: unknown; source?: string; type?: string }, path: Path): Json {
    const { value } = node;
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'bigint') return numberOf(String(value));
    if (typeof value !== 'number') return this.#fail(node, 'not a JSON value');
    const written = node.source ?? String(value);
    if (/^[-+]?\.(inf|nan)$/i.test(written)) {
      return this.#fail(node, `${written} is not a JSON number; write text in quotes if it is meant`);
    }
    const decimal = /^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(written);
    const read = decimal ? numberOf(jsonLiteral(written)) : value;
    if (typeof read === 'number' && String(read) !== written) this.lostForms.push({ path, written });
    return read;
  }

  #fail(node: Node | null, message: string): null {
    if (!this.failed) this.#report(node, message);
    this.failed = true;
    return null;
  }
}

/** A YAML number as JSON writes it: no plus sign, no leading zeros, digits around the point. */
function jsonLiteral(written: string): string {
  return written
    .replace(/^\+/, '')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=e|$)/i, '');
}

function keyOf(pair: Pair): string | null {
  const key = pair.key;
  if (!isScalar(key)) return null;
  if (typeof key.value === 'string') return key.value;
  if (key.value === null) return null;
  return key.source ?? JSON.stringify(key.value);
}

function locate(document: Document, path: Path, target: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let key = startOf(document.contents);
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    let next: unknown;
    let nextKey: number;
    if (isMap(node)) {
      const pair = (node.items as Pair[]).find((candidate) => keyOf(candidate) === String(step));
      next = pair?.value ?? pair?.key;
      nextKey = startOf(pair?.key as Node | undefined);
    } else if (isSeq(node)) {
      next = typeof step === 'number' ? node.items[step] : undefined;
      nextKey = startOf(next as Node | undefined);
    } else break;
    if (next === undefined || next === null) break;
    node = next;
    key = nextKey;
  }
  return target === 'key' ? key : startOf(node as Node | null);
}
