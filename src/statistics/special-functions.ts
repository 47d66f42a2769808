/** Lanczos coefficients, g = 7, n = 9 (Godfrey 2001): relative error below 1e-13 for x > 0. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** Natural logarithm of the gamma function, x > 0. */
export function logGamma(x: number): number {
  const y = x - 1;
  const t = y + 7.5;
  let sum: number = LANCZOS[0];
  LANCZOS.slice(1).forEach((coefficient, i) => {
    sum += coefficient / (y + i + 1);
  });
  return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Continued fraction of the incomplete beta function by the modified Lentz method (Numerical Recipes, 6.4). */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const guard = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let h = d;
  for (let m = 1; m <= 500; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < 1e-16) break;
  }
  return h;
}

/** Regularised incomplete beta function I_x(a, b), 0 <= x <= 1. */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** P(T > t) of Student's t for t >= 0. */
function upperTail(t: number, df: number): number {
  return 0.5 * incompleteBeta(df / (df + t * t), df / 2, 0.5);
}

/**
 * Quantile of Student's t distribution with `df` degrees of freedom (> 0), 0 < p < 1: the value t with P(T <= t) = p.
 * Found by bisection on the incomplete beta function, to about 1e-12 relative.
 */
export function tQuantile(p: number, df: number): number {
  if (!(p > 0 && p < 1) || !(df > 0)) throw new RangeError(`tQuantile needs 0 < p < 1 and df > 0, got ${p}, ${df}`);
  if (p === 0.5) return 0;
  const tail = p > 0.5 ? 1 - p : p;
  let high = 1;
  while (upperTail(high, df) > tail) high *= 2;
  let low = high === 1 ? 0 : high / 2;
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i += 1) {
    const middle = (low + high) / 2;
    if (upperTail(middle, df) > tail) low = middle;
    else high = middle;
  }
  const t = (low + high) / 2;
  return p > 0.5 ? t : -t;
}
