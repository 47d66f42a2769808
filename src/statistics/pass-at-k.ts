/** C(a, k) / C(n, k) as a product of ratios: no large binomials, no overflow. */
function chooseRatio(a: number, n: number, k: number): number {
  if (a < k) return 0;
  let ratio = 1;
  for (let i = 0; i < k; i += 1) ratio *= (a - i) / (n - i);
  return ratio;
}

/**
 * pass@k: chance that at least one of k trials drawn from n passes, 1 - C(n-c,k)/C(n,k) (Chen et al. 2021, "Evaluating
 * Large Language Models Trained on Code"). Null when k > n.
 * @param n scored trials
 * @param c passed trials
 */
export function passAtK(n: number, c: number, k: number): number | null {
  return k > n ? null : 1 - chooseRatio(n - c, n, k);
}

/** pass^k: chance that all of k trials drawn from n pass, C(c,k)/C(n,k) (Yao et al. 2024, tau-bench). Null when k > n. */
export function passHatK(n: number, c: number, k: number): number | null {
  return k > n ? null : chooseRatio(c, n, k);
}
