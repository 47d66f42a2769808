import { describe, expect, test } from 'vitest';
import type { Expected } from '../../../../src/core/case.ts';
import type { Json } from '../../../../src/core/json.ts';
import type { RetrievalConfig } from '../../../../src/core/retrieval-config.ts';
import { scoresOf, trajectory } from '../fixtures.ts';
import type { MadeCall } from '../fixtures.ts';

const NAMES = ['doc_recall', 'doc_precision', 'doc_mrr', 'doc_ndcg'];

function valuesOf(expected: Expected, ids: string[] | null, retrieval?: RetrievalConfig, calls: MadeCall[] = []) {
  const made = trajectory(calls, { retrieved_doc_ids: ids });
  const scores = scoresOf(expected, made, { suite: retrieval === undefined ? {} : { retrieval } });
  return NAMES.map((name) => scores[name]?.value);
}

describe('scores of retrieved documents', () => {
  test('of what the agent reports; repeats count once', () => {
    expect(valuesOf({ doc_ids: ['a', 'b'] }, ['x', 'a', 'a'])).toEqual([0.5, 0.5, 0.5, expect.closeTo(0.38685, 5)]);
  });

  test('grades are gains: the better document first is the ideal', () => {
    const graded: Expected = { doc_ids: [{ id: 'a', grade: 3 }, 'b', { id: 'c', grade: 0 }] };
    expect(valuesOf(graded, ['a', 'b'])).toEqual([1, 1, 1, 1]);
    expect(valuesOf(graded, ['b', 'a'])[3]).toBeCloseTo((1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3)), 12);
    expect(valuesOf(graded, ['c', 'a', 'b'])).toEqual([1, expect.closeTo(2 / 3, 12), 0.5, expect.any(Number)]);
  });

  test('k of the suite cuts the ranking', () => {
    expect(valuesOf({ doc_ids: ['a', 'b'] }, ['x', 'a', 'b'], { k: 2 })).toEqual([0.5, 0.5, 0.5, expect.any(Number)]);
  });

  test('passes from 1, or from what the suite says', () => {
    const made = trajectory([], { retrieved_doc_ids: ['x', 'a'] });
    const strict = scoresOf({ doc_ids: ['a'] }, made);
    expect(strict['doc_mrr']).toMatchObject({ value: 0.5, passed: false, deciding: false });
    expect(strict['doc_mrr']?.reason).toBe('the first relevant document is at rank 2');
    const eased = scoresOf({ doc_ids: ['a'] }, made, { suite: { retrieval: { pass_at: { mrr: 0.5 } } } });
    expect(eased['doc_mrr']?.passed).toBe(true);
    expect(eased['doc_precision']?.passed).toBe(false);
  });

  test('no relevant document: no score; not reported: null; nothing retrieved: 0', () => {
    for (const doc_ids of [undefined, [], [{ id: 'a', grade: 0 }]]) {
      expect(valuesOf(doc_ids === undefined ? {} : { doc_ids }, ['a'])).toEqual(NAMES.map(() => undefined));
    }
    expect(valuesOf({ doc_ids: ['a'] }, null)).toEqual([null, null, null, null]);
    expect(valuesOf({ doc_ids: ['a'] }, [])).toEqual([0, 0, 0, 0]);
  });
});

describe('retrieval tool of the suite', () => {
  const search = (result: Json): MadeCall => ({ tool: 'search', result });
  const from = (path: string, ...calls: MadeCall[]) =>
    valuesOf({ doc_ids: ['a', '7'] }, null, { tool: 'search', path }, calls)[0];

  test.each<[string, Json]>([
    ['documents[].id', { documents: [{ id: 'a' }, { id: 7 }] }],
    ['$.documents[].id', { documents: [{ id: 'a' }, { id: 7 }] }],
    ['[].meta.id', [{ meta: { id: 'a' } }, { meta: { id: '7' } }]],
    ['ids[]', { ids: ['a', '7'] }],
    ['ids[]', '{"ids": ["a", 7]}'],
    ['pages[].ids[]', { pages: [{ ids: ['a'] }, { ids: [7] }] }],
  ])('ids at %s', (path, result) => {
    expect(from(path, search(result))).toBe(1);
  });

  test('results of several calls one after the other; failed and other calls hold none', () => {
    const failed: MadeCall = { tool: 'search', result: { ids: ['7'] }, error: { kind: 'http_500', message: 'cut' } };
    expect(from('ids[]', search({ ids: ['a'] }), failed, { tool: 'read', result: { ids: ['7'] } })).toBe(0.5);
    expect(from('ids[]', search({ ids: ['a'] }), search({ ids: ['7'] }))).toBe(1);
  });

  test('not called, or only failing: nothing was retrieved', () => {
    expect(from('ids[]')).toBe(0);
    expect(from('ids[]', search({ ids: [] }))).toBe(0);
  });

  test('no answer has the path: not known, and it says so', () => {
    expect(from('ids[]', search({ documents: [] }))).toBeNull();
    expect(from('ids[]', search({ ids: [{}] }))).toBeNull();
    const scores = scoresOf({ doc_ids: ['a'] }, trajectory([search('nothing found')]), {
      suite: { retrieval: { tool: 'search', path: 'ids[]' } },
    });
    expect(scores['doc_recall']?.reason).toBe('no result of `search` has `ids[]`');
  });

  test('what the agent reports comes first', () => {
    expect(valuesOf({ doc_ids: ['a'] }, ['a'], { tool: 'search', path: 'ids[]' }, [search({ ids: ['x'] })])[0]).toBe(1);
  });
});
