/** Requests as an A2A client writes them, without the SDK: what is on the wire is what is tested. */

/** JSON of the other side: whatever it is, a wrong guess fails the test. */
export type Loose = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Headers;
  body: Loose;
}

export interface Wire {
  name: string;
  /** Calls a method; what it means in the transport is the transport's affair. */
  call(method: Method, params?: Loose, headers?: Record<string, string>): Promise<Reply>;
  /** Events of a stream, as they are on the wire. @param until leaves after so many; default: reads to the end */
  stream(method: 'SendStreamingMessage' | 'SubscribeToTask', params: Loose, until?: number): Promise<Stream>;
  /** The task, message or other result of a reply. */
  result(reply: Reply): Loose;
  /** Name of the error in a reply. */
  reason(reply: Reply): string;
}

interface Stream {
  reply: Reply;
  events: Loose[];
}

type Method =
  | 'SendMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'CreateTaskPushNotificationConfig'
  | 'GetTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'DeleteTaskPushNotificationConfig'
  | 'GetExtendedAgentCard';

const JSON_TYPE = { 'content-type': 'application/json', 'a2a-version': '1.0' };

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? (JSON.parse(text) as Loose) : { text },
  };
}

/** Reads a stream to its end, or to `until` events. */
async function readEvents(response: Response, until = Infinity): Promise<Loose[]> {
  const events: Loose[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const line = text
        .slice(0, at)
        .split('\n')
        .find((one) => one.startsWith('data: '));
      text = text.slice(at + 2);
      if (line !== undefined) events.push(JSON.parse(line.slice(6)) as Loose);
      if (events.length >= until) return events;
    }
  }
  return events;
}

export function jsonRpc(url: string): Wire {
  const post = (method: string, params: unknown, headers = {}): Promise<Response> =>
    fetch(`${url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'r1', method, params }),
    });
  return {
    name: 'JSON-RPC',
    call: async (method, params = {}, headers = {}) => replyOf(await post(method, params, headers)),
    async stream(method, params, until) {
      const response = await post(method, params);
      if (!isSse(response)) return { reply: await replyOf(response), events: [] };
      const events = await readEvents(response, until);
      const alien = events.find((event) => event['jsonrpc'] !== '2.0' || event['id'] !== 'r1');
      if (alien !== undefined) throw new Error(`an event is no response to the request: ${JSON.stringify(alien)}`);
      const reply = { status: response.status, headers: response.headers, body: {} };
      return { reply, events: events.map((event) => event['result'] as Loose) };
    },
    result: ({ body }) => body['result'] as Loose,
    reason: ({ body }) => body['error']?.data?.[0]?.reason as string,
  };
}

export function rest(url: string): Wire {
  const root = `${url}/a2a/rest`;
  const send = (verb: string, path: string, body?: unknown, headers = {}): Promise<Response> =>
    fetch(`${root}${path}`, {
      method: verb,
      headers: { ...JSON_TYPE, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const route = (method: Method, p: Loose): [verb: string, path: string, body?: unknown] => {
    const { id, taskId, ...query } = p;
    const configs = `/tasks/${taskId}/pushNotificationConfigs`;
    const search = new URLSearchParams(query as Record<string, string>).toString();
    switch (method) {
      case 'SendMessage':
        return ['POST', '/message:send', p];
      case 'GetTask':
        return ['GET', `/tasks/${id}?${search}`];
      case 'ListTasks':
        return ['GET', `/tasks?${search}`];
      case 'CancelTask':
        return ['POST', `/tasks/${id}:cancel`, {}];
      case 'CreateTaskPushNotificationConfig':
        return ['POST', configs, p];
      case 'GetTaskPushNotificationConfig':
        return ['GET', `${configs}/${id}`];
      case 'ListTaskPushNotificationConfigs':
        return ['GET', configs];
      case 'DeleteTaskPushNotificationConfig':
        return ['DELETE', `${configs}/${id}`];
      case 'GetExtendedAgentCard':
        return ['GET', '/extendedAgentCard'];
    }
  };
  return {
    name: 'HTTP+JSON',
    async call(method, params = {}, headers = {}) {
      const [verb, path, body] = route(method, params);
      return replyOf(await send(verb, path, body, headers));
    },
    async stream(method, params, until) {
      const path = method === 'SubscribeToTask' ? `/tasks/${params['id']}:subscribe` : '/message:stream';
      const response = await send('POST', path, params);
      if (!isSse(response)) return { reply: await replyOf(response), events: [] };
      const events = await readEvents(response, until);
      return { reply: { status: response.status, headers: response.headers, body: {} }, events };
    },
    result: ({ body }) => body,
    reason: ({ body }) => body['error']?.details?.[0]?.reason as string,
  };
}

function isSse(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

let count = 0;

/** Parameters of a message with this text or these parts. */
export function message(said: string | object[], more: Loose = {}): Loose {
  count += 1;
  const parts = typeof said === 'string' ? [{ text: said }] : said;
  const { configuration, ...place } = more;
  return {
    message: { messageId: `m${count}`, role: 'ROLE_USER', parts, ...place },
    ...(configuration === undefined ? {} : { configuration }),
  };
}
