import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Connection } from '@temporalio/client';
import { DYNAMIC_CONFIG } from '../../../../src/local/temporal-server.ts';
import { findInstalledTemporal } from '../../../../src/local/find-temporal.ts';
import { ensureSearchAttributes } from '../../../../src/local/search-attributes.ts';
import { eventually } from '../../../e2e/support/program.ts';

export interface OwnTemporal {
  address: string;
  stop(): Promise<void>;
}

/** A Temporal of its own, in memory, with further dynamic configuration. */
export async function startOwnTemporal(config: Record<string, string>): Promise<OwnTemporal> {
  const binary = findInstalledTemporal(process.env);
  if (binary === null) throw new Error('the shared services have no Temporal CLI');
  const port = await freePort();
  const settings = Object.entries({ ...DYNAMIC_CONFIG, ...config });
  const dynamic = settings.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]);
  const args = [
    'server',
    'start-dev',
    '--headless',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--log-level',
    'error',
    ...dynamic,
  ];
  const child = spawn(binary, args, { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const address = `127.0.0.1:${port}`;
  try {
    await eventually('Temporal', async () => {
      const connection = await Connection.connect({ address });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      await ensureSearchAttributes(connection, 'default');
      await connection.close();
      return true;
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    address,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
