import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/core/errors.ts';
import { judgeTrial } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { CASE, CONFIG, judgeOne, reply, scriptedJudge, trajectoryWith } from './judge-fixture.ts';

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
    // The example of docs/scoring.md.
    [parts(0.9, 0.8, 1, 0.6), 0.855, true],
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
