import { judgeName } from '../core/suite.ts';
import type { Db } from './connect.ts';
import { agentModel, type NewEvaluation, replaceCases } from './create-evaluation.ts';
import { toJsonb } from './escape.ts';

/**
 * Gives an evaluation a new snapshot. Trials of cases that stayed the same are kept, unless `everything` asks for all
 * of them anew (the agent changed). One transaction: an interruption leaves the old snapshot whole.
 */
export async function replaceSnapshot(db: Db, input: NewEvaluation, options: { everything: boolean }): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (options.everything) await tx.deleteFrom('trial').where('evaluation_id', '=', input.id).execute();
    await tx
      .updateTable('evaluation')
      .set({
        agent_model: agentModel(input.suite),
        judge_model: judgeName(input.suite.judge),
        suite_root: input.suiteRoot,
        offline: input.offline,
        labels: toJsonb(input.suite.labels),
      })
      .where('id', '=', input.id)
      .execute();
    await replaceCases(tx, input);
  });
}
