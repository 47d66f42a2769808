import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createModelClient } from '../src/agents/openai/openai-client.ts';

const CALLS = 2_000;
const IN_FLIGHT = 50;
const DELAY_MS = 5;
const ROUNDS = 3;

export interface CallsBenchResult {
  case: string;
  calls: number;
  concurrency: number;
  /** CPU milliseconds of the calling process for each of its first calls, the median of some processes. */
  cpuMsPerCall: number;
  /** The same where the `openai` package uses the global fetch. */
  cpuMsPerCallGlobalFetch: number;
  ratio: number;
}

/** What a model call costs the process that makes it, its first {@link CALLS} calls: in processes of their own, by turns. */
export async function measureCalls(): Promise<CallsBenchResult> {
  const reply = JSON.stringify({
    object: 'chat.completion',
    model: 'scripted-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is number 5.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => setTimeout(() => response.setHeader('content-type', 'application/json').end(reply), DELAY_MS));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const costs: Record<'own' | 'global', number[]> = { own: [], global: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const which of ['own', 'global'] as const) {
      const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, which, url]);
      costs[which].push(Number(stdout));
    }
  }
  server.close();
  const [own, global] = [median(costs.own), median(costs.global)];
  return {
    case: 'model-calls',
    calls: CALLS,
    concurrency: IN_FLIGHT,
    cpuMsPerCall: own,
    cpuMsPerCallGlobalFetch: global,
    ratio: Math.round((own / global) * 1_000) / 1_000,
  };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** CPU milliseconds a call. */
async function callMany(baseUrl: string, own: boolean): Promise<number> {
  const client = createModelClient({ baseUrl, apiKey: 'bench', ...(own ? {} : { fetch }) });
  const { signal } = new AbortController();
  const before = process.cpuUsage();
  let left = CALLS;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const messages = [{ role: 'user' as const, content: 'Question number 5: what is its number?' }];
      await client.complete({ model: 'scripted-1', messages }, { signal, timeoutMs: 60_000 });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / CALLS;
}

if (import.meta.main) {
  const [which, url] = process.argv.slice(2);
  console.log((await callMany(url ?? '', which === 'own')).toFixed(3));
  process.exit(0);
}
