// An agent of your own. Use it with `agent: { type: module, path: agent.ts }` in suite.yaml.
// It runs in a process of its own. Tools called through `context.tools` are answered by the mock world and recorded;
// `context.wrap(myTools)` records tools of your own without changing their code; `context.complete(request)` is a model
// call that is not paid for twice when a trial is taken up again.

interface Input {
  input: string;
}

interface Context {
  tools: Record<string, (args?: Record<string, unknown>) => Promise<unknown>>;
}

interface Order {
  status: string;
  total: number;
}

/** Answers by rule: enough to see a module agent at work. */
export default async function agent({ input }: Input, { tools }: Context): Promise<string> {
  const id = /[A-Z]-\d{3}/.exec(input)?.[0];
  if (id === undefined)
    return /order|money|refund/i.test(input) ? 'What is your order number?' : 'I only help with orders.';
  try {
    const order = (await tools['get_order']?.({ order_id: id })) as Order;
    return `Order ${id} is ${order.status}.`;
  } catch {
    return `I could not find order ${id}.`;
  }
}
