import type { Criterion } from './criterion.ts';
import type { ScoringInput } from '../scorer.ts';

/** `expected.final_status`: how the trial ended. */
export function finalStatus({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const wanted = evalCase.expected.final_status;
  if (wanted === undefined) return [];
  const { final_status: got, final_status_reason: why } = trajectory;
  const holds = got === wanted;
  const because = why === null ? '' : ` (${why})`;
  return [{ holds, reason: holds ? `ended ${got}` : `wanted final status ${wanted}, got ${got}${because}` }];
}
