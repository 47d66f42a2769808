import { nearest } from '../../core/did-you-mean.ts';
import { UserError } from '../../core/errors.ts';
import type { Db } from '../../db/connect.ts';
import { findIdsByPrefix, recentIds } from '../../db/evaluation-ids.ts';
import { type EvaluationRow, findEvaluation, findNewest } from '../../db/evaluations.ts';

const SHOWN = 5;
const SEARCHED = 500;

/**
 * The evaluation a user names: its id, an unambiguous beginning of it, or `latest`.
 * @throws UserError naming the ids that come near.
 */
export async function resolveEvaluation(db: Db, name: string): Promise<EvaluationRow> {
  const exact = await findEvaluation(db, name);
  if (exact !== null) return exact;
  if (name === 'latest') return newestEvaluation(db);
  const begun = name === '' ? [] : await findIdsByPrefix(db, name, SHOWN + 1);
  const [only, second] = begun;
  if (only !== undefined && second === undefined) {
    const row = await findEvaluation(db, only);
    if (row !== null) return row;
  }
  if (begun.length > 1) throw ambiguous(name, begun);
  throw unknown(name, await recentIds(db, SEARCHED));
}

/** @throws UserError when there is none. */
export async function newestEvaluation(db: Db): Promise<EvaluationRow> {
  const newest = await findNewest(db);
  if (newest !== null) return newest;
  throw new UserError('There are no evaluations in this database yet.', { hint: 'Start one with `assay run SUITE`.' });
}

function ambiguous(name: string, ids: string[]): UserError {
  const more = ids.length > SHOWN ? ', …' : '';
  return new UserError(`Several evaluations begin with "${name}": ${ids.slice(0, SHOWN).join(', ')}${more}`, {
    hint: 'Write more of the id; `assay list` shows them all.',
  });
}

function unknown(name: string, ids: string[]): UserError {
  if (ids.length === 0) {
    return new UserError(`There is no evaluation "${name}": the database has none yet.`, {
      hint: 'Start one with `assay run SUITE`.',
    });
  }
  const near = nearest(name, ids);
  const shown = near === null ? ids.slice(0, 3) : [near, ...ids.filter((id) => id !== near).slice(0, 2)];
  return new UserError(`There is no evaluation "${name}".`, {
    hint: `${near === null ? 'The newest are' : 'Near it'}: ${shown.join(', ')}. \`latest\` names the newest; \`assay list\` shows more.`,
  });
}
