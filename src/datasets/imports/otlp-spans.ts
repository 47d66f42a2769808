import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { setOwn } from '../../core/lossless-json.ts';

/** A span of OTLP JSON with its attributes as plain values; those of its events of GenAI content are among them. */
export interface OtlpSpan {
  trace_id: string;
  span_id: string;
  parent_id: string | null;
  name: string;
  attributes: JsonObject;
  events: { name: string; attributes: JsonObject }[];
  /** What went wrong; null when nothing did. */
  error: string | null;
  started_at_ms: number;
  ended_at_ms: number;
}

/**
 * The spans of one OTLP JSON document (`{resourceSpans: …}`), as the collector's file exporter writes a line. Attributes of
 * the resource are taken where a span has none of the name. Null when the value is none.
 */
export function readOtlpSpans(value: Json): OtlpSpan[] | null {
  const resources = isJsonObject(value) ? (value['resourceSpans'] ?? value['resource_spans']) : undefined;
  if (!Array.isArray(resources)) return null;
  return resources.filter(isJsonObject).flatMap((resource) => {
    const shared = isJsonObject(resource['resource']) ? readAttributes(resource['resource']['attributes']) : {};
    const scopes = listOf(resource['scopeSpans'] ?? resource['scope_spans']);
    return scopes.flatMap((scope) => listOf(scope['spans']).map((span) => readSpan(span, shared)));
  });
}

function readSpan(span: JsonObject, shared: JsonObject): OtlpSpan {
  const status = isJsonObject(span['status']) ? span['status'] : {};
  const failed = status['code'] === 2 || status['code'] === 'STATUS_CODE_ERROR';
  const attributes = { ...shared, ...readAttributes(span['attributes']) };
  const type = attributes['error.type'];
  const reason = textOf(status['message']) || textOf(type) || 'error';
  return {
    trace_id: textOf(span['traceId'] ?? span['trace_id']),
    span_id: textOf(span['spanId'] ?? span['span_id']),
    parent_id: textOf(span['parentSpanId'] ?? span['parent_span_id']) || null,
    name: textOf(span['name']),
    attributes,
    events: listOf(span['events']).map((event) => ({
      name: textOf(event['name']),
      attributes: readAttributes(event['attributes']),
    })),
    error: failed ? reason : null,
    started_at_ms: milliseconds(span['startTimeUnixNano'] ?? span['start_time_unix_nano']),
    ended_at_ms: milliseconds(span['endTimeUnixNano'] ?? span['end_time_unix_nano']),
  };
}

function readAttributes(value: Json | undefined): JsonObject {
  const attributes: JsonObject = {};
  for (const { key, value: given } of listOf(value)) {
    if (typeof key === 'string') setOwn(attributes, key, anyValue(given));
  }
  return attributes;
}

/** AnyValue of OTLP as JSON. Integers come as text. */
function anyValue(value: Json | undefined): Json {
  if (!isJsonObject(value)) return value ?? null;
  if (value['stringValue'] !== undefined) return value['stringValue'];
  if (value['boolValue'] !== undefined) return value['boolValue'];
  if (value['intValue'] !== undefined) return Number(value['intValue']);
  if (value['doubleValue'] !== undefined) return value['doubleValue'];
  if (isJsonObject(value['arrayValue'])) return listOfAny(value['arrayValue']['values']).map(anyValue);
  if (isJsonObject(value['kvlistValue'])) return readAttributes(value['kvlistValue']['values']);
  return null;
}

function listOfAny(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function listOf(value: Json | undefined): JsonObject[] {
  return listOfAny(value).filter(isJsonObject);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Nanoseconds since the epoch are beyond a double, and come as text or as a number that was read losslessly. */
function milliseconds(value: Json | undefined): number {
  const digits = isJsonObject(value) ? value['$bignum'] : value;
  const text = typeof digits === 'number' ? String(digits) : digits;
  return typeof text === 'string' && /^\d{1,30}$/.test(text) ? Number(BigInt(text) / 1_000_000n) : 0;
}
