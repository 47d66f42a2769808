/** Keeps the `limit` entries with the largest badness, worst first, ties in the order added; counts them all. */
export interface WorstList {
  add(id: string, badness: number): void;
  ids(): string[];
  count(): number;
}

export function createWorstList(limit: number): WorstList {
  const kept: { id: string; badness: number }[] = [];
  let count = 0;
  return {
    add(id, badness) {
      count += 1;
      const last = kept.at(-1);
      if (kept.length === limit && last !== undefined && badness <= last.badness) return;
      const place = kept.findIndex((entry) => entry.badness < badness);
      kept.splice(place === -1 ? kept.length : place, 0, { id, badness });
      if (kept.length > limit) kept.pop();
    },
    ids: () => kept.map((entry) => entry.id),
    count: () => count,
  };
}
