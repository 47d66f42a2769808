import type { ServerCallContext, User } from '@a2a-js/sdk/server';

/** Who asks. The connection goes along, so that work for a client that has left is given up. */
export class ClientUser implements User {
  readonly isAuthenticated: boolean;
  readonly userName: string;
  /** Aborted when the client's connection is closed. */
  readonly closed: AbortSignal;
  constructor(isAuthenticated: boolean, closed: AbortSignal) {
    this.isAuthenticated = isAuthenticated;
    this.userName = isAuthenticated ? 'bearer' : 'local';
    this.closed = closed;
  }
}

const NEVER = new AbortController().signal;

export function closedSignal(context: ServerCallContext): AbortSignal {
  return context.user instanceof ClientUser ? context.user.closed : NEVER;
}
