/**
 * Maximum bipartite matching by augmenting paths, one left vertex after the other.
 * `matchedOfLeft[i]` is the right vertex of `i`, or null.
 */
export class BipartiteMatching {
  readonly matchedOfLeft: (number | null)[] = [];
  private readonly leftOfRight = new Map<number, number>();
  private readonly right: readonly number[];
  private readonly fits: (left: number, right: number) => boolean;

  /** @param right the right vertices, in order of preference. */
  constructor(right: readonly number[], fits: (left: number, right: number) => boolean) {
    this.right = right;
    this.fits = fits;
  }

  /** Adds a left vertex; true when it and all matched before it can be matched together. */
  add(left: number): boolean {
    this.matchedOfLeft[left] = null;
    return this.augment(left, new Set());
  }

  private augment(left: number, visited: Set<number>): boolean {
    for (const right of this.right) {
      if (visited.has(right) || !this.fits(left, right)) continue;
      visited.add(right);
      const holder = this.leftOfRight.get(right);
      if (holder === undefined || this.augment(holder, visited)) {
        this.leftOfRight.set(right, left);
        this.matchedOfLeft[left] = right;
        return true;
      }
    }
    return false;
  }
}

/** A maximum matching of `left` vertices 0..n-1 with right vertices 0..m-1. */
export function maximumMatching(
  leftCount: number,
  rightCount: number,
  fits: (left: number, right: number) => boolean,
): (number | null)[] {
  const right = Array.from({ length: rightCount }, (_, at) => at);
  const matching = new BipartiteMatching(right, fits);
  for (let left = 0; left < leftCount; left += 1) matching.add(left);
  return matching.matchedOfLeft;
}
