import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import { createAdapters } from '../../../src/local/adapters.ts';
import { sendJson, startEndpoint } from '../agents/http-endpoint.ts';

const REQUEST: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

/** What a call says whose key the endpoint refuses, with this environment. */
async function refusal(env: Record<string, string>, apiKeyEnv?: string): Promise<string> {
  const endpoint = await startEndpoint((response) => sendJson(response, { error: { message: 'no' } }, 401));
  const adapters = createAdapters(readConfig(env, '/tmp'));
  try {
    const client = await adapters.modelClient({ baseUrl: endpoint.baseUrl, apiKeyEnv, offlineModel: null });
    const call = client.complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 10_000 });
    return await call.then(
      () => 'answered',
      (error: Error) => error.message,
    );
  } finally {
    await adapters.close();
    await endpoint.close();
  }
}

test('a refused call without a key names the variable that is not set, and where', async () => {
  const where = `(it was process ${process.pid} on ${hostname()})`;
  expect(await refusal({})).toContain(
    `OPENAI_API_KEY is not set: set it where the command or worker is started ${where}`,
  );
  expect(await refusal({ OPENAI_API_KEY: 'sk-1' }, 'JUDGE_KEY')).toMatch(/JUDGE_KEY is not set: set it where/);
});

test('a refused key names the variable it came from', async () => {
  expect(await refusal({ JUDGE_KEY: 'k-1' }, 'JUDGE_KEY')).toContain('Set a valid key in JUDGE_KEY.');
});
