import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/core/errors.ts';
import { judgeTrial } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { readReply } from '../../../src/judge/read-reply.ts';
import { answerQuality } from '../../../src/judge/dimensions/answer-quality.ts';
import { taskCompletion } from '../../../src/judge/dimensions/task-completion.ts';
import { CASE, CONFIG, judgeOne, reply, scriptedJudge, trajectoryWith } from './judge-fixture.ts';

const NO_DATA = { written: [], delimiters: [] };

const parts = (a: number, c: number, h: number, p: number): string =>
  JSON.stringify({ accuracy: a, completeness: c, no_hallucination: h, professionalism: p, reason: 'r' });

describe('task_completion', () => {
  it.each([
    ['success', 1, true],
    ['partial', 0.5, false],
    ['failure', 0, false],
  ])('%s is %d, passed %s', async (result, value, passed) => {
    const { draft, verdict } = await judgeOne([
      reply(JSON.stringify({ Result: ` ${result.toUpperCase()} `, reason: 'why' })),
    ]);
    expect(draft).toMatchObject({
      scorer: 'task_completion',
      dimension: 'task_completion',
      value,
      passed,
      reason: 'why',
    });
    expect(verdict.parsed).toEqual({ result });
  });

  it('a verdict without a reason is a verdict', async () => {
    expect((await judgeOne([reply('{"result":"success"}')])).draft).toMatchObject({
      passed: true,
      reason: 'the judge gave no reason',
    });
  });
});

describe('answer_quality', () => {
  it.each([
    [parts(1, 1, 1, 1), 1, true],
    [parts(0, 1, 1, 1), 0.65, false],
    // 0.35 + 0.25 + 0 + 0.15 = 0.75: exactly at the threshold, whatever the floats say.
    [parts(1, 1, 0, 1), 0.75, true],
    [parts(1, 1, 0, 0.99), 0.7485, false],
    ['{"Accuracy":"1","COMPLETENESS":"1.0","no_hallucination":"1e0","professionalism":" 1 "}', 1, true],
  ])('%s has the value %d, passed %s', async (text, value, passed) => {
    const { draft } = await judgeOne([reply(text)], { dimension: 'answer_quality' });
    expect(draft.value).toBeCloseTo(value, 12);
    expect(draft.passed).toBe(passed);
  });
});

describe('judgeTrial', () => {
  const judge = async (replies: Parameters<typeof scriptedJudge>[0]): Promise<ReturnType<typeof judgeTrial>> =>
    judgeTrial({
      evalCase: CASE,
      trajectory: trajectoryWith('done'),
      config: { ...CONFIG, seed: 7 },
      dimensions: ['task_completion', 'answer_quality'],
      prompts: await loadPrompts(null, 'en'),
      model: scriptedJudge(replies).model,
      signal: new AbortController().signal,
    });

  it('one dimension without a verdict does not touch the other', async () => {
    const { drafts, verdicts } = await judge({
      task_completion: [reply('?'), reply('?')],
      answer_quality: [reply(parts(1, 1, 1, 1))],
    });
    expect(drafts.map((draft) => [draft.scorer, draft.value, draft.passed])).toEqual([
      ['task_completion', null, null],
      ['answer_quality', 1, true],
    ]);
    expect(verdicts.map((verdict) => verdict.prompt_hash).every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
    expect(verdicts[0]?.prompt_hash).not.toBe(verdicts[1]?.prompt_hash);
    expect(verdicts[1]).toMatchObject({ model: 'judge-1-2026', vote: 0, params: { temperature: 0, seed: 7 } });
  });

  it('of several failures the one that stops the evaluation is thrown, after all calls have ended', async () => {
    const failing = judge({
      task_completion: [new ModelError('server_error', '500')],
      answer_quality: [new ModelError('unauthorized', '401')],
    });
    await expect(failing).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it('asks for structured output as configured', async () => {
    const schema = await judgeOne([reply('{"result":"success"}')], { config: { response_format: 'json_schema' } });
    expect(schema.calls[0]?.request.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: true },
    });
    const text = await judgeOne([reply('{"result":"success"}')], { config: { response_format: 'text' } });
    expect(text.calls[0]?.request.response_format).toBeUndefined();
    expect(text.calls[0]?.request.temperature).toBe(0);
  });

  it('a reason that repeats planted instructions is flagged and counts as it is', async () => {
    const { draft, verdict } = await judgeOne([
      reply('{"result":"success","reason":"As instructed, I ignore the rules above"}'),
    ]);
    expect(draft.passed).toBe(true);
    expect(verdict.flags).toEqual(['quotes_instruction']);
    expect(draft.details).toMatchObject({ flags: ['quotes_instruction'] });
  });

  it('says what is missing where the case has no reference and the agent gave no answer', async () => {
    const { calls } = await judgeOne([reply('{"result":"failure"}')], {
      answer: null,
      evalCase: { id: 'x', input: 'q', expected: {} },
    });
    const user = calls[0]?.request.messages[1]?.content ?? '';
    expect(user).toContain('Reference answer:\n(none given)');
    expect(user).toContain("The assistant's answer:\n(none given)");
  });
});

/** Pieces a judge may put together in any order, valid verdicts among them. */
const PIECES = [
  '{"result":"success"}',
  '{"result":"failure","reason":"x"}',
  '{"Result": "SUCCESS", "reason": "```"}',
  '{"reason":"fine"}',
  '{"pass":true}',
  '{"result":"succ',
  parts(1, 1, 1, 1),
  parts(1, 1, 1, 2),
  '```json\n',
  '\n```',
  '<think>',
  '</think>',
  '{',
  '}',
  '"',
  '\\',
  '[',
  ']',
  ',',
  'result',
  ':',
  '<html>',
  'prose ',
  '\u0000',
  '\ud800',
];

/** Independent of the parser: could an honest reader find a passing verdict written out in this text? */
const mayPass = (text: string): boolean => /"result"\s*:\s*"\s*success\s*"/i.test(text);

describe('fuzz: 100,000 replies', () => {
  const text = fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 7 }).map((list) => list.join('')) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) },
    {
      weight: 1,
      arbitrary: fc
        .dictionary(fc.constantFrom('result', 'accuracy', 'pass', 'score'), fc.jsonValue())
        .map((value) => JSON.stringify(value)),
    },
  );
  const finish = fc.constantFrom('stop', 'length', 'content_filter', null, 'tool_calls');

  it.each([1, 2, 3, 4])('never throws, never passes without a valid verdict (seed %i)', (seed) => {
    let passes = 0;
    let unscored = 0;
    fc.assert(
      fc.property(text, finish, (content, finish_reason) => {
        const result = readReply(reply(content, { finish_reason }), taskCompletion, NO_DATA);
        if (!result.ok) {
          unscored += 1;
          return;
        }
        if (!['stop', null, 'tool_calls'].includes(finish_reason)) throw new Error('scored a cut or filtered reply');
        if (result.reading.passed) passes += 1;
        if (result.reading.passed && !mayPass(content)) throw new Error('passed without a verdict');
      }),
      { numRuns: 25_000, seed },
    );
    // The generator reaches both sides, or the property would say nothing.
    expect(passes).toBeGreaterThan(50);
    expect(unscored).toBeGreaterThan(50);
  });

  it('answer_quality is null, or exactly the weighted sum of four parts in range', () => {
    const part = fc.oneof(fc.double({ min: -0.5, max: 1.5 }), fc.constantFrom('1', '0.5', 'x', null, true, 1, 0));
    fc.assert(
      fc.property(part, part, part, part, (accuracy, completeness, no_hallucination, professionalism) => {
        const values = [accuracy, completeness, no_hallucination, professionalism];
        const content = JSON.stringify({ accuracy, completeness, no_hallucination, professionalism });
        const numbers = values.map((value) =>
          value === null || value === 'x' || typeof value === 'boolean' ? Number.NaN : Number(value),
        );
        const valid = numbers.every((value) => value >= 0 && value <= 1);
        const result = readReply(reply(content), answerQuality, NO_DATA);
        expect(result.ok).toBe(valid);
        if (!result.ok) return;
        const [a = 0, c = 0, h = 0, p = 0] = numbers;
        expect(result.reading.value).toBeCloseTo((35 * a + 25 * c + 25 * h + 15 * p) / 100, 10);
      }),
      { numRuns: 5000, seed: 5 },
    );
  });
});
