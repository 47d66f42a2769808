/** Tells which calls of a module belong to one turn, that is, have no order among themselves. */
export interface ModuleTurns {
  /** A journaled model call was answered; `callsTools` when its reply asks for tools. */
  replied(callsTools: boolean): void;
  /** A call begins in a group of overlapping calls; returns its 0-based turn. */
  begin(group: number): number;
  /** Turns begun so far. */
  count(): number;
}

/**
 * Calls that a journaled model reply asked for are one turn, until the next reply. Other calls are one turn when they
 * overlap in time.
 */
export function createModuleTurns(): ModuleTurns {
  let turn = -1;
  let last: number | null = null;
  let byReply = false;
  return {
    replied(callsTools) {
      last = null;
      byReply = callsTools;
    },
    begin(group) {
      if (last === null || (!byReply && last !== group)) turn += 1;
      last = group;
      return turn;
    },
    count: () => turn + 1,
  };
}
