import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** Segments that would reach a prototype; a path with one of them names nothing. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** A list position past this is taken for a mistake: it would fill memory with nulls. */
const MAX_INDEX = 10_000;

/**
 * Splits a path like `order.items[0].status`. Null when it is no path: empty parts, unclosed brackets, a segment that
 * names a prototype, an index over 10,000.
 */
export function parsePath(path: string): (string | number)[] | null {
  const segments: (string | number)[] = [];
  const pattern = /(?:^|(?<!^)\.)([^.[\]]+)|\[(\d+)\]/gy;
  let end = 0;
  for (let match = pattern.exec(path); match !== null; match = pattern.exec(path)) {
    end = pattern.lastIndex;
    const [, key, index] = match;
    if (key !== undefined) segments.push(key);
    else segments.push(Number(index));
  }
  const valid = segments.every((part) => (typeof part === 'number' ? part <= MAX_INDEX : !FORBIDDEN.has(part)));
  return end === path.length && segments.length > 0 && valid ? segments : null;
}

/** The value at a path; undefined when there is none, or the path is not valid. */
export function getPath(state: Json, path: string): Json | undefined {
  let current: Json | undefined = state;
  for (const segment of parsePath(path) ?? ['']) {
    if (typeof segment === 'number') current = Array.isArray(current) ? current[segment] : undefined;
    else if (isJsonObject(current) && Object.hasOwn(current, segment)) current = current[segment];
    else return undefined;
  }
  return current;
}

/**
 * A copy of `state` with the value at a path set; objects and lists on the way are made where missing, and what is in
 * the way (a text where an object is needed) is replaced. The state given is not changed.
 * @throws {RangeError} when the path is not valid.
 */
export function setPath(state: JsonObject, path: string, value: Json): JsonObject {
  const segments = parsePath(path);
  if (segments === null)
    throw new RangeError(`${JSON.stringify(path)} is no state path; expected e.g. order.items[0].status`);
  return setAt(state, segments, value) as JsonObject;
}

function setAt(current: Json | undefined, segments: (string | number)[], value: Json): Json {
  const [segment, ...rest] = segments;
  if (segment === undefined) return value;
  if (typeof segment === 'number') {
    const list = Array.isArray(current) ? [...current] : [];
    while (list.length < segment) list.push(null);
    list[segment] = setAt(list[segment], rest, value);
    return list;
  }
  const object: JsonObject = isJsonObject(current) ? { ...current } : {};
  object[segment] = setAt(Object.hasOwn(object, segment) ? object[segment] : undefined, rest, value);
  return object;
}

/** A copy of `state` without what is at a path; of a list the items after it move up. The same when there is nothing. */
export function removePath(state: JsonObject, path: string): JsonObject {
  const segments = parsePath(path);
  if (segments === null || getPath(state, path) === undefined) return state;
  return removeAt(state, segments) as JsonObject;
}

function removeAt(current: Json, [segment, ...rest]: (string | number)[]): Json {
  if (Array.isArray(current)) {
    if (rest.length === 0) return current.filter((_, index) => index !== segment);
    return current.map((item, index) => (index === segment ? removeAt(item, rest) : item));
  }
  if (!isJsonObject(current)) return current;
  const entries = Object.entries(current).flatMap(([key, value]): [string, Json][] => {
    if (key !== segment) return [[key, value]];
    return rest.length === 0 ? [] : [[key, removeAt(value, rest)]];
  });
  return Object.fromEntries(entries);
}
