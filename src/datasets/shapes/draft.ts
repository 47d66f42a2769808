import type { JsonObject } from '../../core/json.ts';
import type { Path } from '../readers/source.ts';

/** The shapes a case may be written in: the canonical one and the four of the sources. */
export type Shape = 'canonical' | 'A' | 'B' | 'C' | 'D';

export const SHAPE_NAMES: Record<Shape, string> = {
  canonical: 'a canonical case',
  A: 'shape A: expectedTools, referenceAnswer',
  B: 'shape B: case, goal, expect',
  C: 'shape C: dimension, query, context',
  D: 'shape D: input, rubric, min_steps',
};

/**
 * A record on its way to a canonical case: not yet checked. `origins` says where parts came from, so that a problem of
 * the canonical case is shown at, and named as, what the user wrote.
 */
export interface Draft {
  shape: Shape;
  value: JsonObject;
  origins: { path: Path; source: Path }[];
}

/** The path in the record for a path in the canonical case: by the longest known prefix. */
export function sourcePath(draft: Pick<Draft, 'origins'>, path: Path): Path {
  let best: { path: Path; source: Path } | null = null;
  for (const origin of draft.origins) {
    const fits = origin.path.every((step, i) => path[i] === step);
    if (fits && (best === null || origin.path.length > best.path.length)) best = origin;
  }
  return best === null ? path : [...best.source, ...path.slice(best.path.length)];
}
