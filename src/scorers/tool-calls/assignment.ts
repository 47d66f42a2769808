/** Free columns are held by a stand-in row; it wants only columns that an optimal assignment may leave free. */
const STAND_IN = -2;
const NOBODY = -1;

interface Solution {
  /** Column of each row. */
  columnOf: Int32Array;
  /** Row of each column; STAND_IN for a free one. */
  rowOf: Int32Array;
  /** A row and a column may be together in an optimal assignment only if this holds. */
  tight: (row: number, column: number) => boolean;
  /** An optimal assignment may leave this column free. */
  mayBeFree: (column: number) => boolean;
}

/**
 * Assigns rows to columns one to one: as many as possible, then the greatest total gain, then, row after row, the smallest
 * column (no column last). Exact for whole-number gains.
 * @param gain not negative.
 * @returns the column of each row, or null.
 */
export function assign(
  rows: number,
  columns: number,
  gain: (row: number, column: number) => number,
): (number | null)[] {
  if (rows === 0) return [];
  if (columns === 0) return Array.from({ length: rows }, () => null);
  if (rows === 1) return [bestColumn(columns, (column) => gain(0, column))];
  if (rows <= columns && eachBestOnDiagonal(rows, columns, gain)) return Array.from({ length: rows }, (_, row) => row);
  // Stand-in columns make room for every row; all real columns are then used, because there are no more columns than rows.
  const width = Math.max(rows, columns);
  const cost = new Float64Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) cost[row * width + column] = -gain(row, column);
  }
  const solution = hungarian(rows, width, cost);
  makeLexicographicallySmallest(rows, width, solution);
  return Array.from(solution.columnOf, (column) => (column < columns ? column : null));
}

/** Every row gains most where it stands: then no assignment gains more, and none has smaller columns. */
function eachBestOnDiagonal(rows: number, columns: number, gain: (row: number, column: number) => number): boolean {
  for (let row = 0; row < rows; row += 1) {
    const most = gain(row, row);
    for (let column = 0; column < columns; column += 1) if (gain(row, column) > most) return false;
  }
  return true;
}

function bestColumn(columns: number, gain: (column: number) => number): number {
  let best = 0;
  let most = gain(0);
  for (let column = 1; column < columns; column += 1) {
    const here = gain(column);
    if (here > most) [best, most] = [column, here];
  }
  return best;
}

/** The Hungarian method (Kuhn 1955; shortest augmenting paths with potentials, O(rows² · columns)). */
function hungarian(rows: number, columns: number, cost: Float64Array): Solution {
  const u = new Float64Array(rows + 1);
  const v = new Float64Array(columns + 1);
  const rowOf = new Int32Array(columns + 1);
  const way = new Int32Array(columns + 1);
  for (let row = 1; row <= rows; row += 1) {
    rowOf[0] = row;
    let end = augmentFrom(columns, cost, { u, v, rowOf, way });
    while (end !== 0) {
      const previous = way[end] ?? 0;
      rowOf[end] = rowOf[previous] ?? 0;
      end = previous;
    }
  }
  const columnOf = new Int32Array(rows);
  const holder = new Int32Array(columns).fill(STAND_IN);
  for (let column = 1; column <= columns; column += 1) {
    const row = rowOf[column] ?? 0;
    if (row === 0) continue;
    columnOf[row - 1] = column - 1;
    holder[column - 1] = row - 1;
  }
  return {
    columnOf,
    rowOf: holder,
    tight: (row, column) => (cost[row * columns + column] ?? 0) === (u[row + 1] ?? 0) + (v[column + 1] ?? 0),
    mayBeFree: (column) => (v[column + 1] ?? 0) === 0,
  };
}

interface Potentials {
  u: Float64Array;
  v: Float64Array;
  rowOf: Int32Array;
  way: Int32Array;
}

function augmentFrom(columns: number, cost: Float64Array, { u, v, rowOf, way }: Potentials): number {
  const least = new Float64Array(columns + 1).fill(Infinity);
  const used = new Uint8Array(columns + 1);
  let column = 0;
  do {
    used[column] = 1;
    const row = rowOf[column] ?? 0;
    let delta = Infinity;
    let next = 0;
    for (let j = 1; j <= columns; j += 1) {
      if (used[j] === 1) continue;
      const reduced = (cost[(row - 1) * columns + j - 1] ?? 0) - (u[row] ?? 0) - (v[j] ?? 0);
      if (reduced < (least[j] ?? 0)) {
        least[j] = reduced;
        way[j] = column;
      }
      if ((least[j] ?? 0) < delta) {
        delta = least[j] ?? 0;
        next = j;
      }
    }
    for (let j = 0; j <= columns; j += 1) {
      if (used[j] === 1) {
        const held = rowOf[j] ?? 0;
        u[held] = (u[held] ?? 0) + delta;
        v[j] = (v[j] ?? 0) - delta;
      } else least[j] = (least[j] ?? 0) - delta;
    }
    column = next;
  } while (rowOf[column] !== 0);
  return column;
}

/** Every optimal assignment uses only tight pairs and covers every column that may not be free: walk among those. */
function makeLexicographicallySmallest(rows: number, columns: number, solution: Solution): void {
  const fixed = new Uint8Array(columns);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < (solution.columnOf[row] ?? 0); column += 1) {
      if (fixed[column] === 0 && solution.tight(row, column) && moveTo(row, column, columns, fixed, solution)) break;
    }
    fixed[solution.columnOf[row] ?? 0] = 1;
  }
}

/** Gives `row` the column and finds new columns for whoever that displaces; false, with nothing changed, when there are none. */
function moveTo(row: number, column: number, columns: number, fixed: Uint8Array, solution: Solution): boolean {
  const { columnOf, rowOf, tight, mayBeFree } = solution;
  const hole = columnOf[row] ?? 0;
  const displaced = rowOf[column] ?? STAND_IN;
  const reachedFrom = new Int32Array(columns).fill(NOBODY);
  // A queue of (who seeks a column, the column it gave up).
  const queue: [number, number][] = [[displaced, column]];
  const gaveUp = new Map<number, number>([[displaced, column]]);
  for (let head = 0; head < queue.length; head += 1) {
    const [seeker] = queue[head] ?? [NOBODY];
    for (let to = 0; to < columns; to += 1) {
      if (fixed[to] === 1 || to === column || reachedFrom[to] !== NOBODY) continue;
      if (seeker === STAND_IN ? !mayBeFree(to) : !tight(seeker, to)) continue;
      reachedFrom[to] = seeker;
      if (to === hole) {
        shift(row, column, hole, displaced, { reachedFrom, gaveUp }, solution);
        return true;
      }
      const holder = rowOf[to] ?? STAND_IN;
      if (!gaveUp.has(holder)) {
        gaveUp.set(holder, to);
        queue.push([holder, to]);
      }
    }
  }
  return false;
}

function shift(
  row: number,
  column: number,
  hole: number,
  displaced: number,
  path: { reachedFrom: Int32Array; gaveUp: Map<number, number> },
  { columnOf, rowOf }: Solution,
): void {
  let free = hole;
  for (;;) {
    const mover = path.reachedFrom[free] ?? NOBODY;
    const left = path.gaveUp.get(mover) ?? column;
    rowOf[free] = mover;
    if (mover !== STAND_IN) columnOf[mover] = free;
    if (mover === displaced) break;
    free = left;
  }
  rowOf[column] = row;
  columnOf[row] = column;
}
