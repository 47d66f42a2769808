// The agent as its author wrote it, with the OpenAI Agents SDK. It knows nothing of Assay.
import { Agent, tool } from '@openai/agents';
import { z } from 'zod';

const ORDERS = new Map([
  ['A-100', { status: 'shipped', carrier: 'DHL', total: 40 }],
  ['B-200', { status: 'delivered', carrier: 'UPS', total: 30 }],
]);

const getOrder = tool({
  name: 'get_order',
  description: 'Looks up an order by its number.',
  parameters: z.object({ order_id: z.string() }),
  execute: async ({ order_id }) => ORDERS.get(order_id) ?? { error: `there is no order ${order_id}` },
});

const refundOrder = tool({
  name: 'refund_order',
  description: 'Refunds an order, at most what it cost.',
  parameters: z.object({ order_id: z.string(), amount: z.number() }),
  execute: async ({ order_id, amount }) => ({ order_id, status: 'refunded', amount }),
});

export const supportAgent = new Agent({
  name: 'Order desk',
  instructions: 'You are the assistant of an order desk. Facts about orders come from tools only.',
  tools: [getOrder, refundOrder],
});
