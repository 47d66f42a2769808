import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { demoModels, listModels } from '../../../scripts/demo-models.ts';

const never = (): Promise<string[]> => Promise.reject(new Error('not to be asked'));
const list =
  (...names: string[]) =>
  (): Promise<string[]> =>
    Promise.resolve(names);

test('models that are named are used, the agent’s for the judge too', async () => {
  expect(await demoModels({ ASSAY_MODEL: 'm' }, never)).toEqual({ ASSAY_MODEL: 'm', ASSAY_JUDGE_MODEL: 'm' });
  const env = { ASSAY_MODEL: 'm', ASSAY_JUDGE_MODEL: 'j' };
  expect(await demoModels(env, never)).toEqual(env);
});

test('a key alone is enough where the endpoint has OpenAI’s models, or only one', async () => {
  const openai = list('gpt-4o', 'gpt-5', 'gpt-5-mini');
  expect(await demoModels({}, openai)).toEqual({ ASSAY_MODEL: 'gpt-5-mini', ASSAY_JUDGE_MODEL: 'gpt-5' });
  expect(await demoModels({}, list('qwen'))).toEqual({ ASSAY_MODEL: 'qwen', ASSAY_JUDGE_MODEL: 'qwen' });
  expect(await demoModels({ ASSAY_JUDGE_MODEL: 'j' }, list('qwen'))).toMatchObject({ ASSAY_JUDGE_MODEL: 'j' });
});

test('with several models, or none listed, the user is told which variable to set', async () => {
  expect(await demoModels({}, list('a', 'b'))).toMatch(/^Set ASSAY_MODEL.*: a, b\.$/);
  expect(await demoModels({}, list())).toMatch(/^Set ASSAY_MODEL.*endpoint\.$/);
  expect(await demoModels({}, never)).toMatch(/^Set ASSAY_MODEL.*\(it did not list them: not to be asked\)\.$/);
});

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = null;
});

test('the endpoint is asked with the key; a refusal is told', async () => {
  server = createServer((request, response) => {
    const known = request.headers.authorization === 'Bearer k' && request.url === '/v1/models';
    response.writeHead(known ? 200 : 401).end(JSON.stringify({ data: [{ id: 'a' }] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = { OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/` };
  expect(await listModels({ ...env, OPENAI_API_KEY: 'k' })).toEqual(['a']);
  await expect(listModels(env)).rejects.toThrow('HTTP 401, OPENAI_API_KEY is refused');
});
