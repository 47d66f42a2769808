import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';

const REPLY_KEYS = ['result', 'fail', 'delay_ms', 'set_state'];

/**
 * Short forms of a mock fixture, written out: `{tool, result}` is a fixture with one reply, `replies: {…}` one in a list,
 * `fail: timeout` is `fail: {kind: timeout}`.
 */
export function fixtureFromSugar(fixture: Json): Json {
  if (!isJsonObject(fixture)) return fixture;
  const value: JsonObject = { ...fixture };
  if (value['replies'] === undefined && REPLY_KEYS.some((key) => Object.hasOwn(value, key))) {
    const reply: JsonObject = {};
    for (const key of REPLY_KEYS) {
      const part = value[key];
      if (part === undefined) continue;
      reply[key] = part;
      delete value[key];
    }
    value['replies'] = [reply];
  }
  // Said as "expected a reply", not as a list that is missing.
  value['replies'] ??= [];
  if (isJsonObject(value['replies'])) value['replies'] = [value['replies']];
  if (Array.isArray(value['replies'])) value['replies'] = value['replies'].map(replyFromSugar);
  return value;
}

function replyFromSugar(reply: Json): Json {
  return isJsonObject(reply) && typeof reply['fail'] === 'string' ? { ...reply, fail: { kind: reply['fail'] } } : reply;
}
