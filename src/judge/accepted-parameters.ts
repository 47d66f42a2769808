import { ModelError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { ModelClient, ModelReply, ModelRequest, Refusable } from '../core/model.ts';

/** How an endpoint names what it refuses, e.g. `Unsupported value: 'temperature' does not support 0 with this model`. */
const NAMED: Readonly<Record<Refusable, RegExp>> = {
  temperature: /\btemperature\b/i,
  seed: /\bseed\b/i,
  response_format: /response_?format|json_schema|json_object|structured output/i,
};
const PARAMETERS = Object.keys(NAMED) as Refusable[];

/**
 * A client for judges: what an endpoint does not take (`temperature`, `seed`, `response_format`: reasoning models, older
 * servers) is left out and the request made again. A JSON Schema gives way to a JSON object before it is left out whole. What
 * a model refused once it is not asked again. The reply says what was left out (`left_out`), so that a verdict can tell how it
 * was come by; judges' replies are read tolerantly whatever their format.
 * @throws ModelError as `client`; the refusal itself when it names nothing that can be left out
 */
export function withAcceptedParameters(client: ModelClient): ModelClient {
  const refused = new Map<string, Set<string>>();
  return {
    async complete(request, options) {
      const known = refused.get(request.model) ?? new Set<string>();
      refused.set(request.model, known);
      const left = new Set(known);
      for (;;) {
        const sent = without(request, left);
        try {
          const reply = await client.complete(sent, options);
          // Only now: a refusal that quotes what it was asked ("temperature in Oslo") names no parameter.
          for (const name of left) known.add(name);
          return marked(reply, request, sent);
        } catch (error) {
          const culprits = culpritsOf(error, sent);
          if (culprits.length === 0) throw error;
          for (const culprit of culprits) left.add(culprit);
        }
      }
    },
  };
}

/** What of the request the endpoint refuses, as keys of what is known of its model; none: it is another failure. */
function culpritsOf(error: unknown, sent: ModelRequest): string[] {
  if (!(error instanceof ModelError) || error.kind !== 'bad_request') return [];
  return PARAMETERS.filter((name) => sent[name] !== undefined && NAMED[name].test(error.message)).map((name) =>
    name === 'response_format' ? formatKey(sent.response_format) : name,
  );
}

function formatKey(format: JsonObject | undefined): string {
  return `response_format ${JSON.stringify(format?.['type'])}`;
}

function without(request: ModelRequest, known: ReadonlySet<string>): ModelRequest {
  const { temperature, seed, response_format: wanted, ...rest } = request;
  const fallback: JsonObject = { type: 'json_object' };
  const format = [wanted, ...(wanted?.['type'] === 'json_schema' ? [fallback] : [])].find(
    (one) => one !== undefined && !known.has(formatKey(one)),
  );
  return {
    ...rest,
    ...(temperature === undefined || known.has('temperature') ? {} : { temperature }),
    ...(seed === undefined || known.has('seed') ? {} : { seed }),
    ...(format === undefined ? {} : { response_format: format }),
  };
}

function marked(reply: ModelReply, wanted: ModelRequest, sent: ModelRequest): ModelReply {
  const left = PARAMETERS.filter((name) => wanted[name] !== undefined && sent[name] === undefined);
  const format = sent.response_format?.['type'];
  const changed = format !== undefined && format !== wanted.response_format?.['type'];
  if (left.length === 0 && !changed) return reply;
  return { ...reply, left_out: changed ? [...left, 'json_schema'] : left };
}
