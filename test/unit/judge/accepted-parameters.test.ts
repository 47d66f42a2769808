import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/core/errors.ts';
import type { ModelClient, ModelRequest } from '../../../src/core/model.ts';
import { createModelClient } from '../../../src/agents/openai/openai-client.ts';
import { withAcceptedParameters } from '../../../src/judge/accepted-parameters.ts';
import { sendJson, startEndpoint } from '../agents/http-endpoint.ts';
import { judgeOne, reply } from './judge-fixture.ts';

const WANTED: ModelRequest = {
  model: 'j',
  messages: [],
  temperature: 0,
  seed: 7,
  response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: {} } },
};
const OPTIONS = { signal: new AbortController().signal, timeoutMs: 1000 };

/** An endpoint that refuses what its list names, one parameter a time, in the words given. */
function picky(refusals: { has: (request: ModelRequest) => boolean; message: string }[]) {
  const sent: ModelRequest[] = [];
  const client: ModelClient = {
    async complete(request) {
      sent.push(request);
      const refusal = refusals.find(({ has }) => has(request));
      if (refusal !== undefined) throw new ModelError('bad_request', refusal.message, { status: 400 });
      return reply('{"result":"success"}');
    },
  };
  return { sent, client: withAcceptedParameters(client) };
}

const NO_TEMPERATURE = {
  has: ({ temperature }: ModelRequest) => temperature !== undefined,
  message: "400 Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is.",
};
const NO_SEED = { has: ({ seed }: ModelRequest) => seed !== undefined, message: '422 extra field: seed' };
const NO_SCHEMA = {
  has: ({ response_format }: ModelRequest) => response_format?.['type'] === 'json_schema',
  message: "400 Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
};
const NO_FORMAT = {
  has: ({ response_format }: ModelRequest) => response_format !== undefined,
  message: '400 This response_format type is unavailable now',
};

describe('a judge whose model does not take every parameter', () => {
  it('is asked without the temperature it refuses, and not refused a second time', async () => {
    const { client, sent } = picky([NO_TEMPERATURE]);
    expect((await client.complete(WANTED, OPTIONS)).left_out).toEqual(['temperature']);
    expect((await client.complete(WANTED, OPTIONS)).left_out).toEqual(['temperature']);
    expect(sent.map(({ temperature }) => temperature)).toEqual([0, undefined, undefined]);
    expect(sent[1]).toEqual({ ...WANTED, temperature: undefined });
  });

  it('gets a JSON object in place of a schema, and no format where it takes none', async () => {
    const schema = picky([NO_SCHEMA]);
    expect((await schema.client.complete(WANTED, OPTIONS)).left_out).toEqual(['json_schema']);
    expect(schema.sent.at(-1)?.response_format).toEqual({ type: 'json_object' });
    const none = picky([NO_TEMPERATURE, NO_SEED, NO_FORMAT]);
    expect((await none.client.complete(WANTED, OPTIONS)).left_out).toEqual(['temperature', 'seed', 'response_format']);
    expect(none.sent.at(-1)).toEqual({ model: 'j', messages: [] });
  });

  it('what one model of a panel refuses is still sent to the others', async () => {
    const { client, sent } = picky([{ ...NO_SEED, has: ({ model, seed }) => model === 'j' && seed !== undefined }]);
    await client.complete(WANTED, OPTIONS);
    expect((await client.complete({ ...WANTED, model: 'k' }, OPTIONS)).left_out).toBeUndefined();
    expect(sent.at(-1)?.seed).toBe(7);
  });

  it('an endpoint that takes all of them gets all; other failures, and refusals of something else, are thrown', async () => {
    const all = picky([]);
    expect((await all.client.complete(WANTED, OPTIONS)).left_out).toBeUndefined();
    expect(all.sent).toEqual([WANTED]);
    const other = picky([{ has: () => true, message: '400 messages: must not be empty' }]);
    await expect(other.client.complete(WANTED, OPTIONS)).rejects.toMatchObject({ kind: 'bad_request' });
    expect(other.sent).toHaveLength(1);
    // Refused although it is not there: leaving it out again would go on for ever.
    const stubborn = picky([{ has: () => true, message: '400 temperature' }]);
    await expect(stubborn.client.complete(WANTED, OPTIONS)).rejects.toMatchObject({ kind: 'bad_request' });
    expect(stubborn.sent).toHaveLength(2);
  });

  it('a refusal that only quotes what it was asked takes no parameter from the calls after it', async () => {
    const { client, sent } = picky([
      {
        has: ({ messages }) => messages.length > 0,
        message: '400 input refused: "temperature in Oslo, seed of doubt"',
      },
    ]);
    const quoted: ModelRequest = {
      ...WANTED,
      messages: [{ role: 'user', content: 'temperature in Oslo, seed of doubt' }],
    };
    await expect(client.complete(quoted, OPTIONS)).rejects.toMatchObject({ kind: 'bad_request' });
    expect((await client.complete(WANTED, OPTIONS)).left_out).toBeUndefined();
    expect(sent.at(-1)).toEqual(WANTED);
  });

  it('the verdict is stored with the parameters that were taken', async () => {
    const config = { seed: 7, response_format: 'json_schema' as const };
    const taken = async (left_out: NonNullable<ReturnType<typeof reply>['left_out']>) =>
      (await judgeOne([reply('{"result":"success"}', { left_out })], { config })).verdict.params;
    expect(await taken(['temperature', 'json_schema'])).toEqual({
      model: 'judge-1',
      seed: 7,
      max_output_tokens: 100,
      response_format: 'json_object',
      language: 'en',
      left_out: ['temperature', 'json_schema'],
    });
    expect(await taken(['seed', 'response_format'])).toMatchObject({ temperature: 0, response_format: 'text' });
    const { verdict } = await judgeOne([reply('{"result":"success"}')], { config });
    expect(verdict.params).not.toHaveProperty('left_out');
  });

  it('over HTTP, in the words of OpenAI: two refusals, then a verdict', async () => {
    const refuse = (message: string, code: string, param: string) => ({
      error: { message, type: 'invalid_request_error', param, code },
    });
    const endpoint = await startEndpoint((response, body) => {
      if (body['temperature'] !== undefined) {
        const message =
          "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
        sendJson(response, refuse(message, 'unsupported_value', 'temperature'), 400);
      } else if ((body['response_format'] as { type?: string } | undefined)?.type === 'json_schema') {
        const message =
          "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide.";
        sendJson(response, refuse(message, 'unsupported_parameter', 'response_format'), 400);
      } else sendJson(response, { model: 'j', choices: [{ finish_reason: 'stop', message: { content: '{}' } }] });
    });
    try {
      const client = withAcceptedParameters(createModelClient({ baseUrl: endpoint.baseUrl, apiKey: null }));
      const answer = await client.complete({ ...WANTED, messages: [{ role: 'user', content: 'q' }] }, OPTIONS);
      expect(answer).toMatchObject({ content: '{}', left_out: ['temperature', 'json_schema'] });
      expect(endpoint.bodies).toHaveLength(3);
      expect(endpoint.bodies[2]).toMatchObject({ seed: 7, response_format: { type: 'json_object' } });
    } finally {
      await endpoint.close();
    }
  });
});
