import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';

/** Behaviours in which a sub-agent of shape C does something itself, whether or not a result is given. */
const SIMULATED = new Set(['timeout', 'error', 'empty', 'leak']);

/** Name of a sub-agent that shape C describes without naming it. */
const UNNAMED = 'sub_agent';

/**
 * `subAgentBehavior` of shape C as sub-agent definitions: a text is what the sub-agent is to do; of an object, `result`,
 * `delayMs`, `message` and what it leaks make a simulated sub-agent, whose leaks are part of what it returns. A `canary`
 * is not the sub-agent's: see {@link canariesOf}.
 */
export function subAgentsOfBehavior(behavior: Json): Json {
  if (typeof behavior === 'string') return [{ name: UNNAMED, behavior }];
  return (Array.isArray(behavior) ? behavior : [behavior]).map(definitionOf);
}

/** Secrets of the agent's own context that shape C plants beside the sub-agent they must not reach. */
export function canariesOf(behavior: Json): string[] {
  const list = Array.isArray(behavior) ? behavior : [behavior];
  return list.flatMap((one) => (isJsonObject(one) && typeof one['canary'] === 'string' ? [one['canary']] : []));
}

function definitionOf(one: Json): Json {
  if (!isJsonObject(one)) return one;
  const {
    behaviour,
    behavior,
    timeoutMs,
    maxDispatches,
    delayMs,
    result,
    message,
    leakedSteps,
    leakedMessages,
    canary: _canary,
    ...rest
  } = one;
  const how = behavior ?? behaviour;
  const definition: JsonObject = { name: UNNAMED, ...rest };
  if (how !== undefined) definition['behavior'] = how;
  if (timeoutMs !== undefined) definition['timeout_ms'] = timeoutMs;
  if (maxDispatches !== undefined) definition['max_dispatches'] = maxDispatches;
  const leaked = [leakedSteps, leakedMessages].flatMap((texts) => (Array.isArray(texts) ? texts : []));
  const acts = typeof how === 'string' && SIMULATED.has(how);
  if (result === undefined && delayMs === undefined && message === undefined && leaked.length === 0 && !acts) {
    return definition;
  }
  const said = [result, ...leaked].filter((text): text is string => typeof text === 'string' && text !== '').join('\n');
  const mock: JsonObject = {};
  if (typeof result === 'string' || leaked.length > 0) mock['result'] = said;
  if (delayMs !== undefined) mock['delay_ms'] = delayMs;
  if (message !== undefined || how === 'error') mock['fail'] = message ?? 'the sub-agent failed';
  definition['mock'] = mock;
  return definition;
}
