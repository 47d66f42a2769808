import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rankingMetrics } from '../../../../src/scorers/retrieval/ranking.ts';
import type { RankingMetrics } from '../../../../src/scorers/retrieval/ranking.ts';
import { publicData } from '../../../fixtures/public-data.ts';

type Values = [recall: number, precision: number, mrr: number, ndcg: number];

/** Made by test/fixtures/reference/retrieval.py with pytrec-eval-terrier 0.5.11 (trec_eval) and scikit-learn 1.9.1. */
const reference = JSON.parse(
  readFileSync(new URL('../../../fixtures/reference/retrieval.json', import.meta.url), 'utf8'),
) as {
  seed: string;
  cut: number;
  graded: { name: string; grades: Record<string, number>; ranking: string[]; k: number | null; values: Values }[];
  mtrag: { query: string; retrieved: number; all: Values; cut: Values }[];
};

const documentsOf = (grades: Record<string, number>) => Object.entries(grades).map(([id, grade]) => ({ id, grade }));
const valuesOf = ({ recall, precision, mrr, ndcg }: RankingMetrics) => [recall, precision, mrr, ndcg];

function near(got: RankingMetrics, wanted: Values): boolean {
  return valuesOf(got).every((value, i) => value !== null && Math.abs(value - (wanted[i] ?? Number.NaN)) < 1e-9);
}

describe('graded rankings against trec_eval and scikit-learn', () => {
  test.each(reference.graded)('$name', ({ grades, ranking, k, values }) => {
    expect(valuesOf(rankingMetrics(ranking, documentsOf(grades), k))).toEqual(
      values.map((value) => expect.closeTo(value, 9)),
    );
  });

  test('worked by hand: grades 3, 2, 3, 0, 1, 2 in this order, ideal 3, 3, 3, 2, 2, 2', () => {
    const grades = { a: 3, b: 2, c: 3, e: 1, f: 2, g: 3, h: 2 };
    const gain = (list: number[]): number => list.reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
    const { ndcg } = rankingMetrics(['a', 'b', 'c', 'd', 'e', 'f'], documentsOf(grades), null);
    expect(ndcg).toBeCloseTo(gain([3, 2, 3, 0, 1, 2]) / gain([3, 3, 3, 2, 2, 2]), 12);
    // 3 + 1.26186 + 1.5 + 0 + .38685 + .71241 = 6.86113 over 3 + 1.89279 + 1.5 + .86135 + .77371 + .71241 = 8.74026
    expect(ndcg).toBeCloseTo(6.86113 / 8.74026, 4);
  });
});

interface Query {
  queryId: string;
  relevant: Record<string, number>;
}
const mtrag = publicData('mtrag_qrels.jsonl');

/** The ranking that retrieval.py makes of a query, with every third document reported twice. */
function rankingOf(rows: readonly Query[], at: number): string[] {
  const query = rows[at]?.queryId ?? '';
  const digest = (...parts: string[]) => createHash('sha256').update([reference.seed, ...parts].join('|'));
  const candidates = new Set([0, 1, 2, 3, 4].flatMap((step) => Object.keys(rows[(at + step) % rows.length]!.relevant)));
  const ordered = [...candidates]
    .map((id) => ({ id, key: digest(query, id).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ id }) => id);
  const length = 1 + ((digest(query).digest()[0] ?? 0) % 8);
  return ordered.slice(0, length).flatMap((id, rank) => (rank % 3 === 2 ? [id, id] : [id]));
}

describe.runIf(mtrag.use)('MT-RAG: seeded rankings of 777 queries', () => {
  test('recall, precision, MRR and nDCG, uncut and at 3, equal trec_eval to 1e-9', () => {
    const rows = mtrag.rows<Query>();
    expect(rows.length).toBe(777);
    const wrong = rows.flatMap((row, at) => {
      const wanted = reference.mtrag[at];
      if (wanted?.query !== row.queryId) throw new Error(`the reference has no ${row.queryId}`);
      const ranking = rankingOf(rows, at);
      const documents = documentsOf(row.relevant);
      const whole = rankingMetrics(ranking, documents, null);
      const cut = rankingMetrics(ranking, documents, reference.cut);
      expect(whole.k).toBe(wanted.retrieved);
      return near(whole, wanted.all) && near(cut, wanted.cut) ? [] : [row.queryId];
    });
    expect(wrong).toEqual([]);
    // Not a trivial sample: every measure takes many values.
    for (const i of [0, 1, 2, 3]) expect(new Set(reference.mtrag.map(({ all }) => all[i])).size).toBeGreaterThan(5);
  });
});

describe('edges', () => {
  const relevant = [{ id: 'a', grade: 1 }];

  test('no relevant document: null; all of grade 0 is none', () => {
    for (const documents of [[], [{ id: 'a', grade: 0 }]]) {
      expect(valuesOf(rankingMetrics(['a'], documents, null))).toEqual([null, null, null, null]);
    }
  });

  test('nothing retrieved: 0, with k set or not', () => {
    for (const k of [null, 5]) expect(valuesOf(rankingMetrics([], relevant, k))).toEqual([0, 0, 0, 0]);
  });
});

describe('laws', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const ranking = fc.array(id, { maxLength: 12 });
  const documents = fc.uniqueArray(fc.record({ id, grade: fc.nat(3) }), { selector: (one) => one.id });
  const k = fc.option(fc.integer({ min: 1, max: 10 }), { nil: null });

  test('within range; repeats change nothing; swapping a worse document with a better one below lifts nDCG', () => {
    fc.assert(
      fc.property(ranking, documents, k, (list, of, cut) => {
        const got = rankingMetrics(list, of, cut);
        for (const value of valuesOf(got)) if (value !== null) expect(value).toBeGreaterThanOrEqual(0);
        for (const value of valuesOf(got)) if (value !== null) expect(value).toBeLessThanOrEqual(1);
        expect(rankingMetrics([...list, ...list], of, cut)).toEqual(got);
        expect(rankingMetrics(list, [...of].reverse(), cut).ndcg).toBe(got.ndcg);
        const grades = new Map(of.map((one) => [one.id, one.grade]));
        const best = [...new Set(list)].sort((a, b) => (grades.get(b) ?? 0) - (grades.get(a) ?? 0));
        expect(rankingMetrics(best, of, cut).ndcg ?? 0).toBeGreaterThanOrEqual((got.ndcg ?? 0) - 1e-12);
      }),
    );
  });

  test('one more relevant document at the end never lowers recall', () => {
    fc.assert(
      fc.property(ranking, documents, (list, of) => {
        const before = rankingMetrics(list, of, null).recall;
        for (const { id: added } of of) {
          const after = rankingMetrics([...list, added], of, null).recall;
          expect(after ?? 0).toBeGreaterThanOrEqual(before ?? 0);
        }
      }),
    );
  });
});
