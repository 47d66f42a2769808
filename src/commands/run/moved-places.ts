import { type MovedPlace, movedPlaces, withPlacesOf } from '../../core/suite-places.ts';
import type { Suite } from '../../core/suite.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';

/** What is stored anew of an ended evaluation that is opened again: addresses and names of secrets as they are now, each said. */
export function movedDefinition(context: CommandContext, row: EvaluationRow, now: Suite): { definition?: Suite } {
  const moved = movedPlaces(row.definition, now);
  if (moved.length === 0) return {};
  for (const place of moved) context.stderr(`${place.key} is taken from the suite as it is now: ${change(place)}\n`);
  return { definition: withPlacesOf(row.definition, now) };
}

/** Says what an evaluation under way does not use: its workers have the stored addresses. */
export function noteMoved(context: CommandContext, row: EvaluationRow, now: Suite): void {
  if (row.status !== 'running' && row.status !== 'paused') return;
  for (const { key, before, now: after } of movedPlaces(row.definition, now)) {
    context.stderr(
      `note: ${key}: the stored evaluation uses ${before ?? 'none'}; the suite now says ${after ?? 'none'}; ` +
        `\`assay run --new\` starts another, \`assay cancel ${row.id}\` and \`assay resume ${row.id}\` go on with the suite's\n`,
    );
  }
}

function change({ before, now }: MovedPlace): string {
  return `${now ?? 'none'} (was ${before ?? 'none'})`;
}
