import { expect, test } from 'vitest';
import { connect } from '../../../src/db/connect.ts';
import { createTrialWriter } from '../../../src/db/trial-writer.ts';
import { loadUnmatchedCalls } from '../../../src/db/unmatched-calls.ts';
import { createTestDatabase } from '../../fixtures/database.ts';
import { casesOf, endOf, keyOf, scoreOf, storeEvaluation } from './support.ts';

test('calls no mock answered are counted by tool, most first, with their cases', async () => {
  const database = await createTestDatabase();
  const db = connect(database.url);
  try {
    const odd = 'c \u0000';
    await storeEvaluation(db, 'e', casesOf('a', 'b', odd), { trials: 2 });
    const writer = createTrialWriter(db, 'w');
    const end = async (id: string, trial: number, tools: { tool: string; calls: number }[]): Promise<void> => {
      const key = keyOf('e', id, trial);
      const fence = (await writer.claim(key))!.fence;
      const missing = tools.length === 0 ? [] : [scoreOf('mock_coverage', 0, { deciding: false, details: { tools } })];
      await writer.finish(endOf(key, fence, { scores: [scoreOf('tool_match', 1, { details: { x: 1 } }), ...missing] }));
    };
    await end('a', 1, [{ tool: 'notify', calls: 1 }]);
    await end('a', 2, [{ tool: 'refund', calls: 2 }]);
    await end('b', 1, []);
    await end(odd, 1, [
      { tool: 'refund', calls: 3 },
      { tool: 'notify', calls: 1 },
    ]);
    expect(await loadUnmatchedCalls(db, 'e')).toEqual([
      { tool: 'refund', calls: 5, cases: 2, case_ids: ['a', odd] },
      { tool: 'notify', calls: 2, cases: 2, case_ids: ['a', odd] },
    ]);
    expect(await loadUnmatchedCalls(db, 'none')).toEqual([]);
  } finally {
    await db.destroy();
    await database.drop();
  }
});
