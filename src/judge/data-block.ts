import { hashText } from '../core/hash.ts';

/**
 * Wraps untrusted text between two delimiter lines that cannot occur in it: the marker is the content's own hash, taken
 * again until it is absent. Rendering stays deterministic, so equal verdict requests have equal hashes.
 */
export function dataBlock(name: string, content: string): string {
  const [open, close] = delimiterLines(name, content);
  return `${open}\n${content}\n${close}`;
}

/** The line before and the line after the block of this content. */
export function delimiterLines(name: string, content: string): [open: string, close: string] {
  const marker = absentMarker(content, markerOf(`${name}\n${content}`));
  return [`<<<${name} ${marker}`, `${marker} ${name}>>>`];
}

/** The first of `marker`, its hash, the hash of that … that does not occur in the content. */
export function absentMarker(content: string, marker: string): string {
  let absent = marker;
  while (content.includes(absent)) absent = markerOf(absent);
  return absent;
}

function markerOf(text: string): string {
  return hashText(text).slice(0, 24);
}
