import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { cacheFolder } from '../../../src/core/cache-folder.ts';
import { searchAttributeState } from '../../../src/local/search-attributes.ts';
import { startProductionTemporal, TEMPORAL_SERVER_VERSION } from '../../stack/production-temporal.ts';

const built = existsSync(join(cacheFolder(process.env), 'temporal-server', TEMPORAL_SERVER_VERSION, 'sql'));

// Building the server takes minutes: test:stack does it; here it runs only when it is there.
test.runIf(built)('the production server on Postgres starts, and again on the same data after kill -9', async () => {
  const workDir = mkdtempSync(join(tmpdir(), 'assay-production-'));
  const options = { databaseUrl: inject('databaseUrl'), workDir, log: (line: string) => console.log(line) };
  const first = await startProductionTemporal(options);
  await first.kill();
  const second = await startProductionTemporal(options);
  try {
    expect(second.address).toBe(first.address);
    const connection = await Connection.connect({ address: second.address });
    expect(await searchAttributeState(connection, 'default')).toEqual({ missing: [], wrongType: [] });
    await connection.close();
  } finally {
    await second.stop();
    rmSync(workDir, { recursive: true, force: true });
  }
});
