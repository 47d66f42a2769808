import type { Json, JsonObject } from '../core/json.ts';

/** The fields of one reply, found whatever the case of their keys. */
export class Fields {
  readonly #byKey: ReadonlyMap<string, Json>;

  constructor(object: JsonObject) {
    this.#byKey = new Map(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]));
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  get(key: string): Json | undefined {
    return this.#byKey.get(key);
  }

  /** A number from `min` to `max`; numbers written as strings count. @throws FieldError */
  number(key: string, min: number, max: number): number {
    const value = this.#required(key, `a number from ${min} to ${max}`);
    const number = toNumber(value);
    if (number === null || number < min || number > max) {
      throw new FieldError(`"${key}" must be a number from ${min} to ${max}, not ${show(value)}`);
    }
    return number;
  }

  /** A whole number from `min` to `max`. @throws FieldError */
  integer(key: string, min: number, max: number): number {
    const value = this.#required(key, `a whole number from ${min} to ${max}`);
    const number = toNumber(value);
    if (number === null || !Number.isInteger(number) || number < min || number > max) {
      throw new FieldError(`"${key}" must be a whole number from ${min} to ${max}, not ${show(value)}`);
    }
    return number;
  }

  /** 0 or 1, also as false or true. @throws FieldError */
  binary(key: string): 0 | 1 {
    const value = this.#required(key, '0 or 1');
    if (value === true) return 1;
    if (value === false) return 0;
    const number = toNumber(value);
    if (number === 0) return 0;
    if (number === 1) return 1;
    throw new FieldError(`"${key}" must be 0 or 1, not ${show(value)}`);
  }

  /** One of `choices`, ignoring case and white space around it. @throws FieldError */
  choice<T extends string>(key: string, choices: readonly T[]): T {
    const allowed = choices.map((choice) => `"${choice}"`).join(', ');
    const value = this.#required(key, `one of ${allowed}`);
    const word = typeof value === 'string' ? value.trim().toLowerCase() : null;
    const choice = choices.find((candidate) => candidate === word);
    if (choice === undefined) throw new FieldError(`"${key}" must be one of ${allowed}, not ${show(value)}`);
    return choice;
  }

  /** A text; null when the judge left it out: a verdict without a reason is still a verdict. @throws FieldError */
  text(key: string): string | null {
    const value = this.#byKey.get(key);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw new FieldError(`"${key}" must be a text, not ${show(value)}`);
    return value;
  }

  #required(key: string, wanted: string): Json {
    const value = this.#byKey.get(key);
    if (value === undefined) throw new FieldError(`the field "${key}" (${wanted}) is missing`);
    return value;
  }
}

/** A field is missing or out of range; the message is shown to the judge in the repair request. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

const NUMBER = /^\s*[+-]?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/;

/** A finite number, or a string that is nothing but one; else null. */
export function toNumber(value: Json | undefined): number | null {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function show(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
