import type { PathCheck } from '../../core/case.ts';
import type { Json } from '../../core/json.ts';
import type { Criterion } from './criterion.ts';
import { ownValue } from '../values/equality.ts';
import { compareValue } from '../tool-calls/compare-args.ts';

/**
 * Steps of a path: `order.items[0].id`, `order.items.0.id`, `["key.with.dots"].x`; a leading `$` is allowed.
 * Null when the text is no path.
 */
export function parsePath(path: string): string[] | null {
  const step = /\.?([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\['([^']*)'\]/y;
  const text = path === '$' ? '' : path.replace(/^\$(?=[.[])/, '');
  const steps: string[] = [];
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (found === null) return null;
    steps.push(found[1] ?? found[2] ?? found[3]?.replace(/\\(.)/g, '$1') ?? found[4] ?? '');
  }
  return steps;
}

/** The value at a path; undefined when there is none. Only own properties are followed. */
export function valueAt(root: Json, path: string): Json | undefined {
  const steps = parsePath(path);
  if (steps === null) return undefined;
  let value: Json | undefined = root;
  for (const step of steps) {
    if (Array.isArray(value)) value = /^\d+$/.test(step) ? value[Number(step)] : undefined;
    else if (value !== null && typeof value === 'object') value = ownValue(value, step);
    else return undefined;
  }
  return value;
}

/** `path = value` as a criterion; the value may hold matchers. */
export function checkPath(root: Json, check: PathCheck, of: string): Criterion {
  if (parsePath(check.path) === null) {
    return { holds: null, reason: `${of}: "${check.path}" is no path; write a.b, a[0].b or ["a.b"]` };
  }
  const found = compareValue(check.value, valueAt(root, check.path), 'exact', check.path);
  if (found === null) return { holds: true, reason: `${of} ${check.path} is as wanted` };
  return { holds: false, reason: `${of} ${found.key}: wanted ${found.wanted}, got ${found.got}` };
}
