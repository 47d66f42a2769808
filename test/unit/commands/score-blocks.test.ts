import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scoreBlocks } from '../../../src/commands/suites/score-blocks.ts';
import type { TextLine } from '../../../src/commands/suites/json-lines.ts';
import {
  type BadRecord,
  type RecordedSuite,
  type ScoredRecord,
  scoreLine,
} from '../../../src/commands/suites/score-line.ts';
import type { ScoreThreads } from '../../../src/commands/suites/score-threads.ts';
import { ScoredLines } from '../../../src/commands/suites/scored-lines.ts';
import type { EvalCase } from '../../../src/core/case.ts';
import { SUITE } from '../scorers/fixtures.ts';

const suite: RecordedSuite = { ...SUITE, prices: {} };
const cases = new Map<string, EvalCase>(
  ['a', 'b'].map((id) => [id, { id, input: 'say it', expected: { answer_contains: [id] } }]),
);
const scoreHere = (text: string): ScoredRecord | BadRecord => scoreLine(text, cases, suite);

type Take = ScoreThreads['take'];

/** Threads of which each answer comes after `turns`, or fails; at null there is none free. */
function threadsOf(answers: readonly ({ turns: number; dies: boolean } | null)[]): { take: Take } {
  let asked = 0;
  return {
    take(texts) {
      const answer = answers[asked++ % answers.length] ?? null;
      if (answer === null) return null;
      return (async () => {
        for (let turn = 0; turn < answer.turns; turn += 1) await nextTurn();
        if (answer.dies) throw new Error('out of memory');
        return texts.map(scoreHere);
      })();
    },
  };
}

async function outcome(blocks: TextLine[][], threads: { take: Take } | null): Promise<unknown> {
  const scored = new ScoredLines('made.jsonl');
  await scoreBlocks(blocks, { scoreHere, threads, scored });
  return { lines: scored.lines, problems: scored.problems };
}

const answered = (text: string, more: object): string =>
  JSON.stringify({ messages: [{ role: 'assistant', content: text }], ...more });
const record = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b').map((caseId) => answered('a', { caseId })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 }).map((trial) => answered('b', { caseId: 'b', trial })) },
  { weight: 1, arbitrary: fc.constantFrom('{"caseId": ', '[]', answered('a', { caseId: 'c' }), '{"caseId": "a"}') },
);
/** Seldom bad, or bad throughout: then more lines are wrong than are told. */
const records = fc.oneof(
  fc.array(record, { maxLength: 60 }),
  fc.array(fc.constant('{'), { minLength: 90, maxLength: 150 }),
);
const answers = fc.array(
  fc.option(fc.record({ turns: fc.integer({ min: 0, max: 6 }), dies: fc.boolean() }), { freq: 4 }),
  { minLength: 1, maxLength: 8 },
);

test('any split of the lines into blocks, whoever scores them and ends first, gives the same output', async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      answers,
      async (texts, sizes, plan) => {
        const lines = texts.map((text, at) => ({ number: at + 1, text }));
        const blocks: TextLine[][] = [];
        for (let at = 0; at < lines.length;) {
          const size = sizes[blocks.length % sizes.length] ?? 1;
          blocks.push(lines.slice(at, at + size));
          at += size;
        }
        expect(await outcome(blocks, threadsOf(plan))).toEqual(await outcome([lines], null));
      },
    ),
    { numRuns: 60 },
  );
});

test('a line that cannot be scored here either is told as such, whenever its turn comes', async () => {
  const lines = ['1', '2', '3'].map((text, at) => [{ number: at + 1, text }]);
  const threads = threadsOf([{ turns: 9, dies: true }, { turns: 0, dies: true }, null]);
  const broken = (text: string): ScoredRecord => {
    if (text === '2') throw new RangeError('a defect of a scorer');
    return { caseId: 'a', trial: null, scores: '}' };
  };
  const scored = new ScoredLines('made.jsonl');
  await expect(scoreBlocks(lines, { scoreHere: broken, threads, scored })).rejects.toThrow('a defect of a scorer');
});
