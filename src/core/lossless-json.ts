import type { Json, JsonObject } from './json.ts';

/** Deepest nesting of arrays and objects that is read. */
export const MAX_JSON_DEPTH = 512;

/** Key of the object that stands for a number a double cannot hold: `{"$bignum": "9007199254740993"}`, the digits as written. */
export const BIGNUM_KEY = '$bignum';

export type ParsedJson = { ok: true; value: Json } | { ok: false; error: string; offset: number };

/** Where the parts of a parsed text are: offsets in code units. */
export interface JsonNode {
  start: number;
  /** Members of an object (last one wins) or elements of an array, by key or index. */
  children: Map<string | number, { key: number; node: JsonNode }>;
}

export interface ParseJsonOptions {
  /** `last` (default) keeps the last of two equal keys, as JSON.parse does; `refuse` makes them an error. */
  duplicateKeys?: 'last' | 'refuse';
}

/**
 * Parses strict JSON (RFC 8259) without losing numbers: an integer beyond ±2^53-1 and a number outside a double's range
 * become `{"$bignum": "<as written>"}`. `__proto__` is an ordinary own key. Nesting deeper than {@link MAX_JSON_DEPTH} is
 * an error. Never throws.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): ParsedJson {
  if (isPlain(text)) {
    try {
      const value = JSON.parse(text) as Json;
      if (options.duplicateKeys !== 'refuse' || countKeys(value) === countKeysWritten(text)) return { ok: true, value };
    } catch (error) {
      // The reader below says what is wrong, and where.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const result = parseJsonTree(text, { ...options, tree: false });
  return result.ok ? { ok: true, value: result.value } : result;
}

/** Like {@link parseJson}, with the offset of every key and value. */
export function parseJsonTree(
  text: string,
  options: ParseJsonOptions & { tree?: boolean } = {},
): { ok: true; value: Json; root: JsonNode } | { ok: false; error: string; offset: number } {
  const reader = new JsonReader(text, options.duplicateKeys ?? 'last', options.tree ?? true);
  try {
    const { value, node } = reader.document();
    return { ok: true, value, root: node };
  } catch (error) {
    if (error instanceof JsonFault) return { ok: false, error: error.message, offset: error.offset };
    throw error;
  }
}

/** True when JSON.parse reads the text with nothing lost: no long or exponent numbers, no deep nesting. */
function isPlain(text: string): boolean {
  if (/\d{16}|\d[eE]/.test(text)) return false;
  return count(text, '{', MAX_JSON_DEPTH) + count(text, '[', MAX_JSON_DEPTH) <= MAX_JSON_DEPTH;
}

/** How often a part occurs; stops just above `most`. */
function count(text: string, part: string, most: number): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1 && found <= most; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

/** Keys of every object in a value. */
function countKeys(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countKeys(item), 0);
  let sum = 0;
  for (const key of Object.keys(value)) sum += 1 + countKeys(value[key] ?? null);
  return sum;
}

/** At least the keys a JSON text writes; more where strings look like keys. Equal to {@link countKeys}: no key is there twice. */
function countKeysWritten(text: string): number {
  return /"[ \t\r\n]+:/.test(text) ? Infinity : count(text, '":', Infinity);
}

class JsonFault extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const LEAF: JsonNode['children'] = new Map();

interface Parsed {
  value: Json;
  node: JsonNode;
}

class JsonReader {
  readonly #text: string;
  readonly #duplicates: 'last' | 'refuse';
  readonly #tree: boolean;
  #at = 0;

  constructor(text: string, duplicates: 'last' | 'refuse', tree: boolean) {
    this.#text = text;
    this.#duplicates = duplicates;
    this.#tree = tree;
  }

  document(): Parsed {
    this.#space();
    const parsed = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail(`expected the end, found ${this.#here()}`);
    return parsed;
  }

  #value(depth: number): Parsed {
    const start = this.#at;
    const char = this.#text[start];
    if (char === '{' || char === '[') {
      if (depth >= MAX_JSON_DEPTH) this.#fail(`nested deeper than ${MAX_JSON_DEPTH} levels`);
      return char === '{' ? this.#object(depth) : this.#array(depth);
    }
    if (char === '"') return this.#leaf(start, this.#string());
    if (char === 't') return this.#leaf(start, this.#word('true', true));
    if (char === 'f') return this.#leaf(start, this.#word('false', false));
    if (char === 'n') return this.#leaf(start, this.#word('null', null));
    if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) return this.#leaf(start, this.#number());
    return this.#fail(`expected a value, found ${this.#here()}`);
  }

  #leaf(start: number, value: Json): Parsed {
    return { value, node: { start, children: LEAF } };
  }

  #object(depth: number): Parsed {
    const value: JsonObject = {};
    const node: JsonNode = { start: this.#at, children: this.#tree ? new Map() : LEAF };
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return { value, node };
    }
    for (;;) {
      const key = this.#at;
      if (this.#text[key] !== '"') this.#fail(`expected a key in double quotes, found ${this.#here()}`);
      const name = this.#string();
      if (this.#duplicates === 'refuse' && Object.hasOwn(value, name)) {
        throw new JsonFault(`duplicate key ${JSON.stringify(name)}`, key);
      }
      this.#space();
      this.#expect(':');
      this.#space();
      const member = this.#value(depth + 1);
      setOwn(value, name, member.value);
      if (this.#tree) node.children.set(name, { key, node: member.node });
      this.#space();
      if (this.#ends('}')) return { value, node };
    }
  }

  #array(depth: number): Parsed {
    const value: Json[] = [];
    const node: JsonNode = { start: this.#at, children: this.#tree ? new Map() : LEAF };
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return { value, node };
    }
    for (;;) {
      const element = this.#value(depth + 1);
      if (this.#tree) node.children.set(value.length, { key: element.node.start, node: element.node });
      value.push(element.value);
      this.#space();
      if (this.#ends(']')) return { value, node };
    }
  }

  /** Consumes the closing bracket (true) or a comma (false). */
  #ends(close: string): boolean {
    const char = this.#text[this.#at];
    if (char === close) {
      this.#at++;
      return true;
    }
    if (char !== ',') this.#fail(`expected "," or "${close}", found ${this.#here()}`);
    const comma = this.#at;
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === close) throw new JsonFault(`a comma before "${close}" is not JSON`, comma);
    return false;
  }

  #string(): string {
    const text = this.#text;
    let from = ++this.#at;
    let out = '';
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) this.#fail('the text ends inside a string');
      if (code === 0x22) {
        out += text.slice(from, this.#at);
        this.#at++;
        return out;
      }
      if (code < 0x20) this.#fail(`a control character (U+${code.toString(16).padStart(4, '0')}) must be escaped`);
      if (code === 0x5c) {
        out += text.slice(from, this.#at) + this.#escape();
        from = this.#at;
      } else this.#at++;
    }
  }

  #escape(): string {
    const char = this.#text[this.#at + 1] ?? '';
    if (char === 'u') {
      const hex = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.#fail('expected four hexadecimal digits after \\u');
      this.#at += 6;
      // Surrogates are kept one by one: a lone one is the writer's, and is stored as it is.
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES[char];
    if (plain === undefined) return this.#fail(`"\\${char}" is not an escape of JSON`);
    this.#at += 2;
    return plain;
  }

  #number(): Json {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) return this.#fail(`expected a number, found ${this.#here()}`);
    const next = this.#text[this.#at + match[0].length] ?? '';
    if (/[0-9.eE+-]/.test(next)) this.#fail(`not a number as JSON writes them: ${match[0]}${next}…`);
    this.#at += match[0].length;
    return numberOf(match[0]);
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) return this.#fail(`expected a value, found ${this.#here()}`);
    this.#at += word.length;
    return value;
  }

  #expect(char: string): void {
    if (this.#text[this.#at] !== char) this.#fail(`expected "${char}", found ${this.#here()}`);
    this.#at++;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #here(): string {
    const char = this.#text[this.#at];
    return char === undefined ? 'the end' : JSON.stringify(char);
  }

  #fail(message: string): never {
    throw new JsonFault(message, this.#at);
  }
}

/** A decimal literal as a double when nothing is lost that a reader would notice, else as a `$bignum` object. */
export function numberOf(literal: string): Json {
  const value = Number(literal);
  const isInteger = /^[-+]?\d+$/.test(literal);
  if (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value) && !underflows(literal, value)) return value;
  return { [BIGNUM_KEY]: literal };
}

function underflows(literal: string, value: number): boolean {
  return value === 0 && /[1-9]/.test(literal.replace(/[eE].*$/, ''));
}

/** Sets an own property, `__proto__` included. */
export function setOwn(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
