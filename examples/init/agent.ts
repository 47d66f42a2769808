// An agent of your own. Use it with `agent: { type: module, path: agent.ts }` in suite.yaml.
// It runs in a process of its own. Tools called through `context.tools` are answered by the mock world and recorded;
// `context.wrap(myTools)` records tools of your own without changing their code; `context.complete(request)` is a model
// call that is not paid for twice when a trial is taken up again.
import type { AgentFunction } from 'assay';

interface Order {
  status: string;
  total: number;
}

/** Answers by rule: enough to see a module agent at work. */
const agent: AgentFunction = async (input, { tools }) => {
  const id = /[A-Z]-\d{3}/.exec(input)?.[0];
  if (id === undefined)
    return /order|money|refund/i.test(input) ? 'What is your order number?' : 'I only help with orders.';
  try {
    const order = (await tools['get_order']?.({ order_id: id })) as unknown as Order;
    return `Order ${id} is ${order.status}.`;
  } catch {
    return `I could not find order ${id}.`;
  }
};

export default agent;
