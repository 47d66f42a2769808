// The agent as its author wrote it, with LangGraph JS: a graph that goes from model to tools and back until the model
// answers. It knows nothing of Assay.
import type { AIMessage } from '@langchain/core/messages';
import { tool, type StructuredToolInterface } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import type { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const ORDERS = new Map([
  ['A-100', { status: 'shipped', carrier: 'DHL', total: 40 }],
  ['B-200', { status: 'delivered', carrier: 'UPS', total: 30 }],
]);

const getOrder = tool(
  async ({ order_id }) => JSON.stringify(ORDERS.get(order_id) ?? { error: `there is no order ${order_id}` }),
  {
    name: 'get_order',
    description: 'Looks up an order by its number.',
    schema: z.object({ order_id: z.string() }),
  },
);

const refundOrder = tool(async ({ order_id, amount }) => JSON.stringify({ order_id, status: 'refunded', amount }), {
  name: 'refund_order',
  description: 'Refunds an order, at most what it cost.',
  schema: z.object({ order_id: z.string(), amount: z.number() }),
});

export const supportTools: StructuredToolInterface[] = [getOrder, refundOrder];

const SYSTEM = 'You are the assistant of an order desk. Facts about orders come from tools only.';

export function supportGraph(model: ChatOpenAI, tools = supportTools) {
  const asking = model.bindTools(tools);
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({
      messages: [await asking.invoke([{ role: 'system', content: SYSTEM }, ...messages])],
    }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      ((messages.at(-1) as AIMessage).tool_calls ?? []).length > 0 ? 'tools' : END,
    )
    .addEdge('tools', 'model')
    .compile();
}
