/** What Assay hands over, as far as it is used here; `import type { ModuleContext } from 'assay'` has all of it. */
interface Context {
  callTool(name: string, args: Record<string, unknown>): Promise<unknown>;
}

interface Order {
  status: string;
  carrier?: string;
  total?: number;
}

/** Answers questions about orders by rule: what is asked for stands in the text. */
export default async function agent(input: string, context: Context): Promise<string> {
  const orderId = /[A-Z]-\d+/.exec(input)?.[0];
  if (orderId === undefined) return 'Which order is it about?';
  let order: Order;
  try {
    order = (await context.callTool('get_order', { order_id: orderId })) as Order;
  } catch {
    // A failed tool rejects; what an agent makes of it is what the case looks at.
    return `I could not find an order ${orderId}.`;
  }
  if (/refund/i.test(input)) {
    await context.callTool('refund_order', { order_id: orderId, amount: order.total });
    return `You get ${order.total} euros back.`;
  }
  return `Order ${orderId} is ${order.status}${order.carrier === undefined ? '' : ` with ${order.carrier}`}.`;
}
