import { hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** SHA-256 of a text, as 64 hexadecimal digits. */
export function hashText(text: string): string {
  return hash('sha256', text, 'hex');
}

/** SHA-256 of the canonical JSON of a value: independent of key order. */
export function hashValue(value: unknown): string {
  return hashText(canonicalJson(value));
}
