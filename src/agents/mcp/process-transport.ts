import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { CommandProcess } from '../command/command-process.ts';

/**
 * MCP's stdio transport over a process of ours: one JSON-RPC message a line. The process leads a group that ends with
 * it and with this process, so that a server that is abandoned leaves nothing running.
 */
export function createProcessTransport(process: CommandProcess): Transport {
  const transport: Transport = {
    start() {
      // Reading ends with the process; what goes wrong while it is read is told to the client.
      void readMessages(process, transport).finally(() => transport.onclose?.());
      return Promise.resolve();
    },
    send(message) {
      process.write(JSON.stringify(message));
      return Promise.resolve();
    },
    close: () => process.kill(),
  };
  return transport;
}

async function readMessages(process: CommandProcess, transport: Transport): Promise<void> {
  for (let line = await process.nextLine(); line !== null; line = await process.nextLine()) {
    try {
      transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (error) {
      // A line that is no message (a server that prints to its standard output) says nothing of the others.
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
