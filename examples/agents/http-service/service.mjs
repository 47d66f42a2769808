// An order desk as a small HTTP service, with nothing but Node. It knows nothing of Assay.
import { createServer } from 'node:http';

const ORDERS = {
  'A-100': { status: 'shipped', carrier: 'DHL' },
  'B-200': { status: 'delivered', total: 30 },
  'C-300': { status: 'delivered', total: 2999 },
};
const LIMIT = 500;

/** The order a conversation was last about. */
const sessions = new Map();

function answer(session, question) {
  const orderId = /[A-Z]-\d+/.exec(question)?.[0] ?? sessions.get(session);
  if (orderId === undefined) return { state: 'answered', reply: { text: 'Which order is it about?' }, steps: [] };
  sessions.set(session, orderId);
  const order = ORDERS[orderId];
  const steps = [{ tool: 'get_order', args: { order_id: orderId }, result: order ?? null }];
  if (order === undefined) return { state: 'answered', reply: { text: `There is no order ${orderId}.` }, steps };
  if (!/refund/i.test(question)) {
    const by = order.carrier === undefined ? '' : ` with ${order.carrier}`;
    return { state: 'answered', reply: { text: `Order ${orderId} is ${order.status}${by}.` }, steps };
  }
  if (order.total > LIMIT) return { state: 'handed_over', reply: { text: 'A colleague will decide.' }, steps };
  steps.push({ tool: 'refund_order', args: { order_id: orderId, amount: order.total }, result: 'refunded' });
  return { state: 'answered', reply: { text: `You get ${order.total} euros back.` }, steps };
}

/** Starts the service on a free port, or on `port`; requests need `Authorization: Bearer <token>`. */
export function startService(token, port = 0) {
  const server = createServer(async (request, response) => {
    const send = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${token}`) return send(401, { error: 'no' });
    if (request.method !== 'POST' || request.url !== '/chat') return send(404, { error: 'no such path' });
    let text = '';
    for await (const part of request) text += part;
    const { session, question } = JSON.parse(text);
    send(200, answer(session, question));
  });
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}/chat`, close: () => server.close() });
    });
  });
}
