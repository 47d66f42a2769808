import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createMcpTools } from '../../../../src/agents/mcp/mcp-tools.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { ToolCall } from '../../../../src/core/trajectory.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const OUTPUT = {
  type: 'object',
  properties: { text: { type: 'string', pattern: '^(a+)+$' }, pattern: { type: 'number' } },
};

/** A server by hand: those of the SDK check their results themselves. Each call is answered with its arguments. */
interface Request {
  id?: number;
  method?: string;
  params?: JsonObject;
}

function resultOf(method: string, params: JsonObject): JsonObject | null {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'patterns', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'echo', inputSchema: { type: 'object' }, outputSchema: OUTPUT }] };
    case 'tools/call':
      return { content: [], structuredContent: params['arguments'] ?? {} };
    default:
      return null;
  }
}

test('D10: a pattern a server declares for its results cannot hold the worker; other rules of its schema hold', async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { id, method = '', params = {} } = JSON.parse(body === '' ? '{}' : body) as Request;
      const result = resultOf(method, params);
      response.setHeader('content-type', 'application/json');
      if (result === null)
        response.statusCode = method === 'server/discover' ? 400 : request.method === 'POST' ? 202 : 405;
      response.end(result === null ? undefined : JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const suite = suiteOf({ tools: [], mcp: [{ name: 'patterns', url, mode: 'live', timeout_ms: 10_000 }] });
  const source = await createMcpTools({ env: {} })(
    inputOf({ model: scripted(), evalCase: caseOf({}), suite, suiteRoot: '/' }),
  );
  const echo = (args: JsonObject): Promise<unknown> | undefined =>
    source.handlers.get('echo')?.(args, new AbortController().signal, {} as ToolCall);
  try {
    const text = `${'a'.repeat(25)}!`;
    expect(await echo({ text, pattern: 1 })).toEqual({ result: { text, pattern: 1 }, error: null, unmatched: false });
    for (const wrong of [{ text: 7 }, { pattern: 'x' }]) {
      expect(await echo(wrong)).toMatchObject({ error: { message: expect.stringContaining('must be') } });
    }
  } finally {
    await source.close();
    server.closeAllConnections();
    server.close();
  }
});
