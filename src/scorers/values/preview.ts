import { bignumText } from './exact-number.ts';
import type { Json } from '../../core/json.ts';

const LONGEST_STRING = 120;
const MOST_ITEMS = 8;
const DEEPEST = 4;

/** A value as one short line for a reason: JSON, cut where it is long, wide or deep. Never throws, whatever an agent recorded. */
export function preview(value: Json | undefined, depth = 0): string {
  if (value === undefined) return '(absent)';
  if (typeof value === 'string') {
    if (value.length <= LONGEST_STRING) return JSON.stringify(value);
    return `${JSON.stringify(value.slice(0, LONGEST_STRING))}… (${value.length} characters)`;
  }
  if (value === null || typeof value !== 'object') return String(value);
  const big = bignumText(value);
  if (big !== null) return big.slice(0, LONGEST_STRING);
  if (Array.isArray(value)) {
    if (depth >= DEEPEST) return value.length === 0 ? '[]' : '[…]';
    const items = value.slice(0, MOST_ITEMS).map((item) => preview(item, depth + 1));
    return `[${items.join(', ')}${value.length > MOST_ITEMS ? ', …' : ''}]`;
  }
  const keys = Object.keys(value);
  if (depth >= DEEPEST) return keys.length === 0 ? '{}' : '{…}';
  const members = keys
    .slice(0, MOST_ITEMS)
    .map((key) => `${JSON.stringify(key.slice(0, LONGEST_STRING))}: ${preview(value[key], depth + 1)}`);
  return `{${members.join(', ')}${keys.length > MOST_ITEMS ? ', …' : ''}}`;
}

/** `a, b and 3 more`, each quoted. */
export function listed(names: readonly string[], most = 10): string {
  const shown = names.slice(0, most).map((name) => `\`${name.slice(0, LONGEST_STRING)}\``);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}
