import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Agreement, Estimate } from '../../../src/core/calibration.ts';
import { agreementOf } from '../../../src/statistics/agreement.ts';
import type { RatedPair } from '../../../src/statistics/agreement.ts';
import { spearman } from '../../../src/statistics/spearman.ts';
import { publicData } from '../../fixtures/public-data.ts';

interface Reference {
  n: number;
  confusion: number[][];
  agreement: number;
  agreement_interval: [number, number];
  kappa: number;
  kappa_interval: [number, number];
  weighted_kappa: number;
  weighted_kappa_interval: [number, number];
  spearman: number;
}

/** Made by test/fixtures/reference/agreement.py with scikit-learn 1.9.1, scipy 1.17.1, statsmodels 0.15.0. */
const reference = JSON.parse(
  readFileSync(new URL('../../fixtures/reference/agreement.json', import.meta.url), 'utf8'),
) as {
  mtrag: Record<string, { raters: Reference; judges: Record<string, { spearman: number }> }>;
  small: Record<string, Reference & { table: number[][] }>;
  clustered: { pairs: [string, number, number][]; value: number; interval: [number, number] };
  spearman: Record<string, { x: number[]; y: number[]; value: number }>;
};

/** Pairs of a table of counts, each of a case of its own. */
function pairsOf(table: readonly (readonly number[])[]): RatedPair[] {
  return table.flatMap((row, first) =>
    row.flatMap((count, second) =>
      Array.from({ length: count }, (_, i) => ({ cluster: `${first}-${second}-${i}`, first, second })),
    ),
  );
}

function near(got: Estimate | null, value: number, interval: readonly [number, number]): void {
  expect(got).not.toBeNull();
  expect(Math.abs(got!.value - value)).toBeLessThan(1e-9);
  expect(Math.abs(got!.low! - Math.max(-1, interval[0]))).toBeLessThan(1e-9);
  expect(Math.abs(got!.high! - Math.min(1, interval[1]))).toBeLessThan(1e-9);
}

function same(got: Agreement, wanted: Reference): void {
  expect(got.pairs).toBe(wanted.n);
  expect(got.confusion).toEqual(wanted.confusion);
  near(got.agreement, wanted.agreement, wanted.agreement_interval);
  near(got.kappa, wanted.kappa, wanted.kappa_interval);
  near(got.weighted_kappa, wanted.weighted_kappa, wanted.weighted_kappa_interval);
}

interface MtragRow {
  id: string;
  human: Record<string, number[]>;
  llm: Record<string, number>;
}
const mtrag = publicData('mtrag_human.jsonl');

describe('agreement against scikit-learn and statsmodels', () => {
  test.each(Object.entries(reference.small).map(([name, table]) => ({ name, ...table })))('$name', (wanted) => {
    const categories = wanted.table.length;
    same(agreementOf(pairsOf(wanted.table), { categories, ordinal: true }), wanted);
  });

  test('the published table: kappa 0.429 (Fleiss, Cohen and Everitt 1969)', () => {
    const got = agreementOf(
      pairsOf([
        [106, 10, 4],
        [22, 28, 10],
        [2, 12, 6],
      ]),
      { categories: 3, ordinal: true },
    );
    expect(got.agreement?.value).toBe(0.7);
    expect(got.kappa?.value).toBeCloseTo(0.42857142857142855, 12);
    expect(got.weighted_kappa?.value).toBeCloseTo(0.5666666666666667, 12);
  });
});

describe.runIf(mtrag.use)('MT-RAG: 477 answers with human ratings and automatic judges', () => {
  test.each(Object.keys(reference.mtrag))('%s: first against second rater over the scale 1 to 4', (aspect) => {
    const pairs = mtrag.rows<MtragRow>().flatMap((row): RatedPair[] => {
      const [first, second] = row.human[aspect] ?? [];
      return first === undefined || second === undefined
        ? []
        : [{ cluster: row.id, first: first - 1, second: second - 1 }];
    });
    const wanted = reference.mtrag[aspect]!.raters;
    same(agreementOf(pairs, { categories: 4, ordinal: true }), wanted);
    const ranks = spearman(pairs.map(({ first, second }) => [first, second]));
    expect(Math.abs(ranks!.value - wanted.spearman)).toBeLessThan(1e-9);
  });

  // The numbers themselves, so that a changed reference file is seen: sklearn.metrics.cohen_kappa_score(labels=[1,2,3,4],
  // weights=None and 'quadratic').
  test.each([
    ['faithfulness', 0.5911949685534591, 0.26456402795787337, 0.5486649025739716],
    ['completeness', 0.7358490566037735, 0.26084710743801653, 0.5106579941046068],
    ['appropriateness', 0.6247379454926625, 0.062044797925981165, 0.08899746967978361],
    ['naturalness', 0.8616352201257862, 0.2765752102578244, 0.47056182577788863],
  ])('%s in numbers', (aspect, agreement, kappa, weighted) => {
    const wanted = reference.mtrag[aspect]!.raters;
    expect([wanted.agreement, wanted.kappa, wanted.weighted_kappa]).toEqual([agreement, kappa, weighted]);
  });

  test('Spearman of the mean human rating with each automatic judge (scipy.stats.spearmanr)', () => {
    const rows = mtrag.rows<MtragRow>();
    const got = Object.keys(reference.mtrag).flatMap((aspect) =>
      ['rb_llm', 'rl_f', 'rb_agg'].map((judge) => {
        const value = spearman(
          rows.map((row) => {
            const ratings = row.human[aspect] ?? [];
            return [ratings.reduce((sum, rating) => sum + rating, 0) / ratings.length, row.llm[judge] ?? Number.NaN];
          }),
        )?.value;
        return Math.abs((value ?? Number.NaN) - reference.mtrag[aspect]!.judges[judge]!.spearman) < 1e-9;
      }),
    );
    expect(got).toEqual(Array.from({ length: 12 }, () => true));
    expect(reference.mtrag['faithfulness']!.judges['rl_f']!.spearman).toBe(0.581528670748007);
  });
});

describe('Spearman', () => {
  test.each(Object.entries(reference.spearman))('%s: scipy.stats.spearmanr', (_name, { x, y, value }) => {
    expect(spearman(x.map((a, i) => [a, y[i]!]))?.value).toBeCloseTo(value, 12);
  });

  test('nothing to rank: null', () => {
    expect(spearman([])).toBeNull();
    expect(spearman([[1, 2]])).toBeNull();
    expect(
      spearman([
        [1, 2],
        [1, 3],
        [1, 4],
      ]),
    ).toBeNull();
  });

  test('without ties r = 1 - 6·Σd²/(n³ - n); interval of Bonett and Wright by hand', () => {
    const pairs = [...Array(12).keys()].map((i): [number, number] => [i, i]);
    const order = [3, 0, 1, 2, 8, 4, 5, 6, 7, 9, 10, 11];
    const shuffled = pairs.map(([x], i): [number, number] => [x, order[i] ?? 0]);
    const squares = shuffled.reduce((sum, [x, y]) => sum + (x - y) ** 2, 0);
    const r = 1 - (6 * squares) / 1716;
    const half = 1.959963984540054 * Math.sqrt((1 + (r * r) / 2) / 9);
    const got = spearman(shuffled);
    expect(got?.value).toBeCloseTo(r, 12);
    expect(got?.low).toBeCloseTo(Math.tanh(Math.atanh(r) - half), 12);
    expect(got?.high).toBeCloseTo(Math.tanh(Math.atanh(r) + half), 12);
  });
});

describe('agreement where there is little to go by', () => {
  test('only one category occurs: kappa is null, agreement is not', () => {
    const got = agreementOf(
      pairsOf([
        [0, 0],
        [0, 9],
      ]),
      { categories: 2, ordinal: true },
    );
    expect(got.agreement?.value).toBe(1);
    expect(got.agreement?.low).toBeCloseTo(0.7008549, 6);
    expect(got.kappa).toBeNull();
    expect(got.weighted_kappa).toBeNull();
  });

  test('one rater never varies: kappa is 0', () => {
    expect(
      agreementOf(
        pairsOf([
          [0, 0],
          [4, 5],
        ]),
        { categories: 2, ordinal: false },
      ).kappa?.value,
    ).toBe(0);
  });

  test('full agreement: exactly 1, and an interval that does not claim to be sure', () => {
    const { kappa, weighted_kappa: weighted } = agreementOf(
      pairsOf([
        [3, 0],
        [0, 3],
      ]),
      { categories: 2, ordinal: true },
    );
    expect(kappa?.value).toBe(1);
    expect(kappa?.high).toBe(1);
    // Wilson of 6 in 6 starts at 0.6097; 1 - 0.3903 / 0.5
    expect(kappa?.low).toBeCloseTo(1 - 0.3903343 / 0.5, 5);
    expect(weighted?.value).toBe(1);
  });

  test('the declared scale counts, not the categories seen', () => {
    // As 1..5 a disagreement of 1 against 5 is the widest; as ranks of the seen categories it would be one of two steps.
    const seen = [
      [6, 0, 0, 0, 1],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 4, 2],
      [0, 0, 0, 1, 6],
    ];
    const whole = agreementOf(pairsOf(seen), { categories: 5, ordinal: true }).weighted_kappa?.value;
    const squeezed = agreementOf(
      pairsOf([
        [6, 0, 1],
        [0, 4, 2],
        [0, 1, 6],
      ]),
      { categories: 3, ordinal: true },
    );
    // sklearn cohen_kappa_score(weights='quadratic', labels=[1,2,3,4,5]), and without labels
    expect(whole).toBeCloseTo(0.8421926910299004, 9);
    expect(squeezed.weighted_kappa?.value).toBeCloseTo(0.7586206896551724, 9);
  });

  test('no order, no weighted kappa; nothing rated, nothing said; off the scale, refused', () => {
    expect(
      agreementOf(
        pairsOf([
          [1, 1],
          [0, 2],
        ]),
        { categories: 2, ordinal: false },
      ).weighted_kappa,
    ).toBeNull();
    expect(agreementOf([], { categories: 2, ordinal: true })).toMatchObject({ pairs: 0, agreement: null, kappa: null });
    expect(() => agreementOf([{ cluster: 'a', first: 2, second: 0 }], { categories: 2, ordinal: true })).toThrow(
      RangeError,
    );
  });

  test('labels of one case count as one: copies of every pair do not narrow the interval', () => {
    const once = pairsOf([
      [8, 3],
      [2, 9],
    ]);
    const copied = [...once, ...once, ...once];
    const single = agreementOf(once, { categories: 2, ordinal: true });
    const clustered = agreementOf(copied, { categories: 2, ordinal: true });
    expect(clustered).toMatchObject({ pairs: 66, clusters: 22 });
    expect(clustered.kappa?.value).toBeCloseTo(single.kappa?.value ?? 0, 12);
    const width = (estimate: Estimate | null): number => (estimate?.high ?? 0) - (estimate?.low ?? 0);
    expect(width(clustered.kappa)).toBeGreaterThan(width(single.kappa));
    expect(width(clustered.agreement)).toBeGreaterThan(0.9 * width(single.agreement));
  });

  test('clustered share: statsmodels OLS with an error robust to clusters', () => {
    const { pairs, value, interval } = reference.clustered;
    const rated = pairs.map(([cluster, first, second]) => ({ cluster, first: first - 1, second: second - 1 }));
    const { agreement } = agreementOf(rated, { categories: 2, ordinal: false });
    near(agreement, value, interval);
  });
});

describe('laws', () => {
  const table = fc.array(
    fc.record({
      cluster: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      first: fc.nat(3),
      second: fc.nat(3),
    }),
    { maxLength: 40 },
  );
  const scale = { categories: 4, ordinal: true };

  test('order does not matter, to the bit', () => {
    fc.assert(
      fc.property(table, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (pairs, keys) => {
        const shuffled = pairs
          .map((pair) => ({ pair, key: keys.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ pair }) => pair);
        expect(agreementOf(shuffled, scale)).toEqual(agreementOf(pairs, scale));
        const ranked = (list: readonly RatedPair[]) => spearman(list.map(({ first, second }) => [first, second]));
        expect(ranked(shuffled)).toEqual(ranked(pairs));
      }),
    );
  });

  test('raters are alike: swapping them changes nothing but the table; all in range; intervals hold the estimate', () => {
    fc.assert(
      fc.property(table, (pairs) => {
        const got = agreementOf(pairs, scale);
        const swapped = agreementOf(
          pairs.map(({ cluster, first, second }) => ({ cluster, first: second, second: first })),
          scale,
        );
        for (const key of ['agreement', 'kappa', 'weighted_kappa'] as const) {
          const [one, other] = [got[key], swapped[key]];
          expect(one === null).toBe(other === null);
          if (one === null || other === null) continue;
          expect(one.value).toBeCloseTo(other.value, 9);
          expect(one.value).toBeLessThanOrEqual(1);
          expect(one.value).toBeGreaterThanOrEqual(key === 'agreement' ? 0 : -1 - 1e-9);
          if (one.low !== null) expect(one.low).toBeLessThanOrEqual(one.value + 1e-12);
          if (one.high !== null) expect(one.high).toBeGreaterThanOrEqual(one.value - 1e-12);
        }
      }),
    );
  });
});

test.each([2, 3])('cases that all agree to one share of %i labels: no interval of one point', (labels) => {
  const pairs = ['a', 'b'].flatMap((cluster) =>
    Array.from({ length: labels }, (_, i) => ({ cluster, first: i === 0 ? 0 : 1, second: 1 })),
  );
  const { agreement } = agreementOf(pairs, { categories: 2, ordinal: true });
  const share = (labels - 1) / labels;
  expect(agreement!.value).toBeCloseTo(share, 12);
  expect(agreement!.high! - agreement!.low!).toBeGreaterThan(0.7); // Wilson of 1 in 2: 0.09 to 0.91
  expect(agreement!.low).toBeLessThan(share);
});
