import type { ToolDefinition } from './case.ts';
import type { JudgeConfig, Suite } from './suite.ts';

/** Keys that say where something is and which variables hold its secrets. Results do not depend on them: no hash covers them. */
const PLACES: ReadonlySet<string> = new Set([
  'base_url',
  'url',
  'card_url',
  'api_key_env',
  'auth_env',
  'token_env',
  'pass_env',
]);

/** One address or name of a secret that two versions of a suite say differently; null: it says none. */
export interface MovedPlace {
  /** Where it stands: `agent.url`, `judge.panel.MODEL.base_url`, `mcp.NAME.url`, `tools.NAME.a2a.card_url`. */
  key: string;
  before: string | null;
  now: string | null;
}

/** A part of a suite without its addresses and names of secrets: what of it is hashed. */
export function withoutPlaces<T extends object>(part: T): Partial<T> {
  return Object.fromEntries(Object.entries(part).filter(([key]) => !PLACES.has(key))) as Partial<T>;
}

/** The stored suite with the addresses and names of secrets of the suite as it is now; all else is kept. */
export function withPlacesOf(stored: Suite, now: Suite): Suite {
  return {
    ...stored,
    agent: stored.agent.type === now.agent.type ? placed(stored.agent, now.agent) : stored.agent,
    judge: stored.judge === null || now.judge === null ? stored.judge : placedJudge(stored.judge, now.judge),
    tools: stored.tools.map((tool) => placedTool(tool, named(now.tools, tool.name))),
    ...(stored.mcp === undefined
      ? {}
      : { mcp: stored.mcp.map((server) => placed(server, named(now.mcp ?? [], server.name))) }),
  };
}

/** Addresses and names of secrets in which the two differ. */
export function movedPlaces(stored: Suite, now: Suite): MovedPlace[] {
  const before = placesOf(stored);
  const after = placesOf(withPlacesOf(stored, now));
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys
    .map((key) => ({ key, before: before.get(key) ?? null, now: after.get(key) ?? null }))
    .filter((one) => one.before !== one.now);
}

/** A place of another thing than the stored one is none: then the stored stays. */
function placed<T extends object>(stored: T, now: object | undefined): T {
  if (now === undefined) return stored;
  const places = Object.entries(now).filter(([key]) => PLACES.has(key));
  return { ...withoutPlaces(stored), ...Object.fromEntries(places) } as T;
}

function placedJudge(stored: JudgeConfig, now: JudgeConfig): JudgeConfig {
  const panel = stored.panel?.map((member) =>
    placed(
      member,
      now.panel?.find(({ model }) => model === member.model),
    ),
  );
  return { ...placed(stored, now), ...(panel === undefined ? {} : { panel }) };
}

function placedTool(stored: ToolDefinition, now: ToolDefinition | undefined): ToolDefinition {
  return stored.a2a === undefined ? stored : { ...stored, a2a: placed(stored.a2a, now?.a2a) };
}

function named<T extends { name: string }>(list: readonly T[], name: string): T | undefined {
  return list.find((one) => one.name === name);
}

function placesOf({ agent, judge, tools, mcp }: Suite): Map<string, string> {
  const parts: [string, object][] = [
    ['agent', agent],
    ...(judge === null ? [] : [['judge', judge] satisfies [string, object]]),
    ...(judge?.panel ?? []).map((member): [string, object] => [`judge.panel.${member.model}`, member]),
    ...tools.map(({ name, a2a }): [string, object] => [`tools.${name}.a2a`, a2a ?? {}]),
    ...(mcp ?? []).map((server): [string, object] => [`mcp.${server.name}`, server]),
  ];
  return new Map(
    parts.flatMap(([at, part]) =>
      Object.entries(part)
        .filter(([key, value]) => PLACES.has(key) && value !== undefined)
        .map(([key, value]: [string, unknown]) => [`${at}.${key}`, String(value)] as const),
    ),
  );
}
