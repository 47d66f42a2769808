import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from 'vitest';
import { EXIT, UserError } from '../../../src/core/errors.ts';
import { waitForDatabase } from '../../../src/local/postgres-server.ts';
import type { Clock } from '../../../src/local/wait.ts';

/** Every pause takes 50 seconds. */
function leapingClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    sleep: async () => {
      now += 50_000;
    },
  };
}

test('a server too busy to answer is asked again, then an error says what to do', async () => {
  let asked = 0;
  const server = net.createServer((socket) => {
    asked += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  try {
    const error = await waitForDatabase(`postgres://assay:secret@127.0.0.1:${port}/assay`, {
      logFile: '/logs/postgres.log',
      log: () => undefined,
      clock: leapingClock(),
    }).catch((caught: unknown) => caught);
    if (!(error instanceof UserError)) throw error;
    expect(error.exitCode).toBe(EXIT.infrastructure);
    expect(error.message).toContain(`Waited 120 s for the database of Postgres at 127.0.0.1:${port}, in vain`);
    expect(error.message).not.toContain('secret');
    expect(error.hint).toMatch(/too busy; try again.*\/logs\/postgres\.log.*DATABASE_URL/);
    expect(asked).toBe(4);
  } finally {
    server.close();
  }
});
