import { describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { judgedDimensions } from '../../../src/core/judged-dimensions.ts';
import { JUDGE_DIMENSIONS } from '../../../src/core/suite.ts';
import { caseFacts } from '../../../src/statistics/case-facts.ts';
import { JUDGE, SUITE } from '../scorers/fixtures.ts';

const ALL = { dimensions: [...JUDGE_DIMENSIONS] };

/** Needed dimensions without the two that every answer has. */
const needed = (fields: Partial<EvalCase>): string[] =>
  judgedDimensions({ id: 'c', input: 'do it', expected: {}, ...fields }, ALL).filter(
    (name) => name !== 'task_completion' && name !== 'answer_quality',
  );

describe('judge dimensions a case needs', () => {
  test('none without a judge, none the suite does not list, none twice', () => {
    const evalCase: EvalCase = { id: 'c', input: 'q', expected: { answer: 'a' } };
    expect(judgedDimensions(evalCase, null)).toEqual([]);
    expect(judgedDimensions(evalCase, { dimensions: ['answer_quality', 'answer_quality'] })).toEqual([
      'answer_quality',
    ]);
    expect(judgedDimensions({ id: 'c', input: 'q', expected: {} }, ALL)).toEqual([]);
  });

  test.each<[string, Partial<EvalCase>, string[]]>([
    ['expected calls', { expected: { calls: [] } }, ['tool_selection']],
    ['alternatives', { expected: { any_of: [{ calls: [] }] } }, ['tool_selection']],
    ['tools that must be called', { expected: { must_call: ['f'] } }, ['tool_selection']],
    ['no query to choose tools for', { input: ' ', expected: { calls: [] } }, []],
    ['prompt segments', { context: { prompt_segments: [{ name: 'base', text: 'x' }] } }, ['prompt_assembly']],
    ['expected prompt segments', { expected: { prompt_segments: ['base'] } }, ['prompt_assembly']],
    ['sub-agents', { context: { sub_agents: [{ name: 's' }] } }, ['subagent_isolation']],
    ['relevant documents', { expected: { doc_ids: ['d'] } }, ['rag_recall']],
    ['only irrelevant documents', { expected: { doc_ids: [{ id: 'd', grade: 0 }] } }, []],
    ['documents without expected ones', { context: { documents: [{ id: 'd', text: 't' }] } }, []],
    ['criteria', { expected: { criteria: 'the city is named' } }, ['answer_completeness']],
    ['a reference answer', { expected: { answer: 'Oslo' } }, ['answer_completeness']],
    ['memory', { context: { memory: [{ role: 'user', content: 'x' }] } }, ['multi_turn_coherence']],
    ['empty memory', { context: { memory: [] } }, []],
    ['two turns', { turns: ['a', 'b'] }, ['multi_turn_coherence']],
    ['one turn', { turns: ['a'] }, []],
    ['a rubric', { rubric: 'the city is named' }, ['trajectory']],
    ['required plan points', { expected: { plan: ['look up'] } }, ['plan_quality', 'plan_consistency']],
  ])('by its fields: %s', (_name, fields, dimensions) => {
    expect(needed(fields)).toEqual(dimensions);
  });

  test('messages are a history when the user spoke before', () => {
    const user = { role: 'user' as const, content: 'x' };
    const one: EvalCase = { id: 'c', messages: [user], expected: {} };
    expect(judgedDimensions(one, ALL)).toEqual([]);
    expect(judgedDimensions({ ...one, messages: [user, { role: 'assistant', content: 'y' }, user] }, ALL)).toEqual([
      'multi_turn_coherence',
    ]);
  });

  test.each(JUDGE_DIMENSIONS.filter((name) => name !== 'task_completion' && name !== 'answer_quality'))(
    'a case of dimension %s needs it where it has criteria, whatever else it lacks',
    (dimension) => {
      expect(needed({ dimension, expected: { criteria: 'names the city' } })).toContain(dimension);
      expect(needed({ dimension })).toEqual(dimension === 'plan_consistency' ? [dimension] : []);
    },
  );

  test('a case about one of the six dimensions is judged in none of the others, but in trajectory and plan', () => {
    const expected = { criteria: 'c', doc_ids: ['d'], calls: [], plan: ['p'] };
    const fields = { expected, rubric: 'r', context: { memory: [{ role: 'user' as const, content: 'x' }] } };
    expect(needed({ ...fields, dimension: 'rag_recall' })).toEqual([
      'rag_recall',
      'trajectory',
      'plan_quality',
      'plan_consistency',
    ]);
    expect(needed({ ...fields, dimension: 'of its own' })).toContain('tool_selection');
    expect(needed({ ...fields, dimension: 'of its own' })).toContain('multi_turn_coherence');
  });

  test('a case that never got a result counts against the coverage of every dimension it needs', () => {
    const suite = { ...SUITE, judge: { ...JUDGE, dimensions: [...JUDGE_DIMENSIONS] } };
    const evalCase: EvalCase = { id: 'c', input: 'q', expected: { doc_ids: ['d'], criteria: 'c' } };
    const { applies } = caseFacts(evalCase, { suite, contentHash: 'h', trials: 1 });
    for (const metric of ['completion_rate', 'answer_quality', 'rag_recall', 'answer_completeness']) {
      expect(applies).toContain(metric);
    }
    expect(applies).not.toContain('task_completion');
    expect(caseFacts(evalCase, { suite: SUITE, contentHash: 'h', trials: 1 }).applies).not.toContain('rag_recall');
  });

  test.each<[string, Partial<EvalCase>, string[]]>([
    ['required steps', { expected: { steps: ['f'] } }, ['progress_rate']],
    ['tools that must be called', { expected: { must_call: ['f'] } }, ['progress_rate']],
    ['a way that asks for no call', { expected: { any_of: [{ calls: [] }] } }, []],
    ['segments', { expected: { prompt_segments: ['base'] } }, ['prompt_assembly']],
    ['a case about segments', { dimension: 'prompt_assembly' }, ['prompt_assembly']],
    ['a case about isolation', { dimension: 'subagent_isolation' }, ['subagent_isolation']],
  ])('a case that never got a result counts against what is scored without a judge: %s', (_name, fields, wanted) => {
    const facts = caseFacts(
      { id: 'c', input: 'q', expected: {}, ...fields },
      { suite: SUITE, contentHash: 'h', trials: 1 },
    );
    expect(facts.applies?.filter((name) => !name.startsWith('tool_'))).toEqual(wanted);
  });

  test('what both a check and a judge score applies once', () => {
    const suite = { ...SUITE, judge: { ...JUDGE, dimensions: [...JUDGE_DIMENSIONS] } };
    const evalCase: EvalCase = { id: 'c', input: 'q', expected: { prompt_segments: ['base'] } };
    expect(caseFacts(evalCase, { suite, contentHash: 'h', trials: 1 }).applies).toEqual(['prompt_assembly']);
  });
});
