import { maskSecrets } from '../core/masked-secret.ts';
import type { Suite } from '../core/suite.ts';

/**
 * Values of the secrets a worker was trusted with for this suite: OPENAI_API_KEY, every variable the suite names under a
 * key that ends in `_env`, those it passes on to programs and MCP servers, and the password of DATABASE_URL.
 */
export function configuredSecrets(suite: Suite, env: Readonly<Record<string, string | undefined>>): string[] {
  const names = new Set(['OPENAI_API_KEY']);
  collect({ agent: suite.agent, judge: suite.judge, mcp: suite.mcp ?? [], tools: suite.tools }, names);
  for (const name of passedOn(suite)) names.add(name);
  const values = [...names].map((name) => env[name]?.trim() ?? '');
  return [...new Set([...values, passwordOf(env['DATABASE_URL'])])].filter((value) => value !== '');
}

function passedOn({ agent, mcp = [] }: Suite): string[] {
  return [...(agent.type === 'command' ? (agent.pass_env ?? []) : []), ...mcp.flatMap(({ env = [] }) => env)];
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && key.endsWith('_env')) names.add(inner);
    else collect(inner, names);
  }
}

function passwordOf(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return '';
  return decodeURIComponent(new URL(address).password);
}

/** Takes secrets out of the messages of an error and its causes: they are stored, logged and part of histories. */
export function maskError(error: unknown, secrets: readonly string[]): void {
  const seen = new Set<unknown>();
  for (let one = error; one instanceof Error && !seen.has(one); one = one.cause) {
    seen.add(one);
    const { message } = maskSecrets({ message: one.message }, secrets);
    if (message !== one.message) one.message = message;
  }
}
