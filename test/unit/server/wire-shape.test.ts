import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { faultOfShape } from '../../../src/server/wire-shape.ts';

const message = (more: object): Json => ({ message: { messageId: 'm', parts: [{ text: 'hello' }], ...more } }) as Json;
const nested = (levels: number): Json => JSON.parse('[{"a":'.repeat(levels) + '1' + '}]'.repeat(levels)) as Json;

test.each<[Json, string]>([
  [message({ parts: [null] }), 'message.parts must be a list of objects'],
  [message({ parts: [{ text: { toString: 1 } }] }), 'message.parts[0].text must be a text'],
  [{ message: { content: [{ text: 7 }] } }, 'message.content[0].text must be a text'],
  [message({ message_id: [] }), 'message.messageId must be a text'],
  [message({ extensions: {} }), 'message.extensions must be a list of texts'],
  [message({ referenceTaskIds: [1] }), 'message.referenceTaskIds must be a list of texts'],
  [message({ parts: [{ kind: 'file', file: 'x' }] }), 'message.parts[0].file must be an object'],
  [message({ parts: [{ type: 'file' }] }), 'message.parts[0].file must be an object'],
  [message({ metadata: 1 }), 'message.metadata must be an object'],
  [{ configuration: { blocking: 'yes' } }, 'configuration.blocking must be true or false'],
  [{ pushNotificationConfig: { token: {} } }, 'pushNotificationConfig.token must be a text'],
  [{ id: {} }, 'id must be a text'],
  [{ historyLength: {} }, 'historyLength must be a number'],
  [{ other: nested(60) }, 'nested deeper than 100 levels'],
  [message({ metadata: { deep: nested(10_000) } }), 'nested deeper than 100 levels'],
])('%# is refused by name', (params, fault) => {
  expect(faultOfShape(params)).toBe(fault);
});

test.each<Json>([
  message({ contextId: null, taskId: null, metadata: { id: 7, text: [null], parts: {}, kind: 'file' } }),
  message({ parts: [{ data: { id: 1, url: {}, extensions: 3 } }] }),
  message({ parts: [{ kind: 'data', data: { data: { file: 1 } } }] }),
  message({ parts: [{ kind: 'file', file: { uri: 'https://example.com', mimeType: 'text/plain' } }] }),
  message({ role: 1, parts: [] }),
  { historyLength: '5', status: 'TASK_STATE_WORKING', pageSize: 2 },
  { configuration: { accepted_output_modes: ['text/plain'], return_immediately: true } },
  { unknown: { what: [{ ever: 1 }] } },
  {},
])('%# is of the shape the protocol says', (params) => {
  expect(faultOfShape(params)).toBeNull();
});
