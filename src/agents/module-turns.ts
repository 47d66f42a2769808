/** Tells which calls of a module belong to one turn, that is, have no order among themselves. */
export interface ModuleTurns {
  /** A journaled model call was answered; `callsTools` when its reply asks for tools. */
  replied(callsTools: boolean): void;
  /** A call begins; returns its 0-based turn. */
  begin(): number;
  /** A call has ended. */
  end(): void;
  /** Turns begun so far. */
  count(): number;
}

/**
 * Calls that a journaled model reply asked for are one turn, until the next reply. Other calls are one turn when they
 * overlap in time, that is, begin before all earlier ones have ended.
 */
export function createModuleTurns(): ModuleTurns {
  let turn = -1;
  let open = 0;
  let fresh = true;
  let byReply = false;
  return {
    replied(callsTools) {
      fresh = true;
      byReply = callsTools;
    },
    begin() {
      if (fresh || (!byReply && open === 0)) turn += 1;
      fresh = false;
      open += 1;
      return turn;
    },
    end() {
      open -= 1;
    },
    count: () => turn + 1,
  };
}
