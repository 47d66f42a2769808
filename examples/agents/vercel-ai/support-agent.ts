// The agent as its author wrote it, with the Vercel AI SDK (https://ai-sdk.dev). It knows nothing of Assay.
import { generateText, isStepCount, tool, type LanguageModel } from 'ai';
import { z } from 'zod';

const ORDERS = new Map([
  ['A-100', { status: 'shipped', carrier: 'DHL', total: 40 }],
  ['B-200', { status: 'delivered', carrier: 'UPS', total: 30 }],
]);

export const supportTools = {
  get_order: tool({
    description: 'Looks up an order by its number.',
    inputSchema: z.object({ order_id: z.string() }),
    execute: async ({ order_id }) => ORDERS.get(order_id) ?? { error: `there is no order ${order_id}` },
  }),
  refund_order: tool({
    description: 'Refunds an order, at most what it cost.',
    inputSchema: z.object({ order_id: z.string(), amount: z.number() }),
    execute: async ({ order_id, amount }) => ({ order_id, status: 'refunded', amount }),
  }),
};

export async function supportAgent(
  question: string,
  options: { model: LanguageModel; tools?: typeof supportTools; signal?: AbortSignal },
) {
  return generateText({
    model: options.model,
    system: 'You are the assistant of an order desk. Facts about orders come from tools only.',
    prompt: question,
    tools: options.tools ?? supportTools,
    stopWhen: isStepCount(6),
    maxRetries: 0,
    ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  });
}
