/** An MCP server for tests: over stdio when run (`legacy`: only the 2025 handshake), else a factory for HTTP. */
import { spawn } from 'node:child_process';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (value: string): { content: { type: 'text'; text: string }[] } => ({
  content: [{ type: 'text', text: value }],
});

let counted = 0;

export function createOrderServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  const order = z.object({ order: z.number() });
  server.registerTool(
    'get_order',
    {
      description: 'Looks up an order.',
      inputSchema: order,
      outputSchema: z.object({ id: z.number(), by: z.string() }),
    },
    ({ order: id }) => ({
      ...text(JSON.stringify({ id })),
      structuredContent: { id, by: process.env['MCP_BY'] ?? '-' },
    }),
  );
  server.registerTool('count', { inputSchema: z.object({}) }, () => {
    counted += 1;
    return text(`call ${counted}`);
  });
  server.registerTool('refuse', { inputSchema: z.object({}) }, () => ({ ...text('not for you'), isError: true }));
  server.registerTool('environment', { inputSchema: z.object({}) }, () => text(Object.keys(process.env).join(' ')));
  server.registerTool('hang', { inputSchema: z.object({}) }, () => new Promise<never>(() => undefined));
  server.registerTool('exit', { inputSchema: z.object({}) }, () => {
    process.stderr.write('out of paper\n');
    process.exit(3);
  });
  server.registerTool('processes', { inputSchema: z.object({}) }, () => {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    return text(`${process.pid} ${child.pid}`);
  });
  return server;
}

if (import.meta.main) {
  // A server that prints what is no message must not stop the others.
  process.stdout.write('starting up\n');
  if (process.argv.includes('legacy')) await createOrderServer().connect(new StdioServerTransport());
  else if (process.argv.includes('bare')) serveStdio(() => new McpServer({ name: 'bare', version: '1.0.0' }));
  else serveStdio(createOrderServer);
}
