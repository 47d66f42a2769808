import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A connection that waits for notifications; it reconnects by itself until closed. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Calls the function of a channel for every notification on it. Notices sent while the connection is down are lost: callers
 * keep a slower fallback (heartbeats).
 */
export function listen(databaseUrl: string, on: Readonly<Record<string, (payload: string) => void>>): Listener {
  const state = { closed: false };
  let client: pg.Client | null = null;

  async function connectOnce(): Promise<void> {
    const connection = new pg.Client({ connectionString: databaseUrl, application_name: 'assay listener' });
    const ended = new Promise<void>((resolve) => {
      connection.on('error', () => resolve());
      connection.on('end', () => resolve());
    });
    connection.on('notification', (notice) => on[notice.channel]?.(notice.payload ?? ''));
    await connection.connect();
    for (const channel of Object.keys(on)) await connection.query(`listen ${pg.escapeIdentifier(channel)}`);
    client = connection;
    // Closed while it was connecting: nobody would end it any more.
    if (!state.closed) await ended;
    await connection.end().catch(() => undefined);
  }

  const loop = (async () => {
    for (let delay = 100; !state.closed; delay = Math.min(delay * 2, 2_000)) {
      await connectOnce().then(
        () => void (delay = 100),
        () => undefined,
      );
      if (!state.closed) await sleep(delay);
    }
  })();

  return {
    async close() {
      state.closed = true;
      await client?.end().catch(() => undefined);
      await Promise.race([loop, sleep(3_000, undefined, { ref: false })]);
    },
  };
}
