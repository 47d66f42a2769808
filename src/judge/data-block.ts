import { hashText } from '../core/hash.ts';

/**
 * Wraps untrusted text between two delimiter lines that cannot occur in it: the marker is the content's own hash, taken
 * again until it is absent. Rendering stays deterministic, so equal verdict requests have equal hashes.
 */
export function dataBlock(name: string, content: string): string {
  let marker = markerOf(`${name}\n${content}`);
  while (content.includes(marker)) marker = markerOf(marker);
  return `<<<${name} ${marker}\n${content}\n${marker} ${name}>>>`;
}

function markerOf(text: string): string {
  return hashText(text).slice(0, 24);
}
