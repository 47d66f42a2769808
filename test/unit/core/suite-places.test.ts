import { describe, expect, test } from 'vitest';
import type { A2aToolConfig } from '../../../src/core/a2a-config.ts';
import { movedPlaces, withPlacesOf } from '../../../src/core/suite-places.ts';
import type { AgentConfig, JudgeConfig, McpServerConfig, Suite } from '../../../src/core/suite.ts';
import { hashAgent, hashSuite } from '../../../src/datasets/suite-hashes.ts';
import { suiteOf } from '../agents/trial-fixture.ts';

const a2a = (card_url: string, auth_env?: string): A2aToolConfig => ({
  card_url,
  ...(auth_env === undefined ? {} : { auth_env }),
  allow_private: false,
  mode: 'auto',
  poll_interval_ms: 1_000,
  patience_ms: 30_000,
  max_response_bytes: 1_000,
  timeout_ms: 60_000,
});
const judge = (panel: JudgeConfig['panel'], base_url: string): JudgeConfig => ({
  model: 'a',
  base_url,
  dimensions: ['task_completion'],
  language: 'en',
  temperature: 0,
  max_output_tokens: 10,
  response_format: 'json_object',
  ...(panel === undefined ? {} : { panel }),
});
const mcp = (url: string, token_env: string): McpServerConfig => ({
  name: 'orders',
  url,
  token_env,
  mode: 'live',
  timeout_ms: 1_000,
});

const suite = (host: string, name: string, part: Partial<Suite> = {}): Suite =>
  suiteOf({
    agent: { type: 'openai', model: 'm', base_url: `http://${host}/v1`, api_key_env: name },
    judge: judge([{ model: 'a' }, { model: 'b', base_url: `http://b.${host}`, api_key_env: name }], `http://${host}/j`),
    mcp: [mcp(`http://${host}/mcp`, name)],
    tools: [{ name: 'plain' }, { name: 'ask', a2a: a2a(`http://${host}/card`, name) }],
    ...part,
  });

describe('addresses and names of secrets', () => {
  const [stored, now] = [suite('old', 'OLD'), suite('new', 'NEW')];

  test('each one that differs is named, with both values', () => {
    expect(movedPlaces(stored, now).map(({ key, before, now: after }) => [key, before, after])).toEqual([
      ['agent.base_url', 'http://old/v1', 'http://new/v1'],
      ['agent.api_key_env', 'OLD', 'NEW'],
      ['judge.base_url', 'http://old/j', 'http://new/j'],
      ['judge.panel.b.base_url', 'http://b.old', 'http://b.new'],
      ['judge.panel.b.api_key_env', 'OLD', 'NEW'],
      ['tools.ask.a2a.card_url', 'http://old/card', 'http://new/card'],
      ['tools.ask.a2a.auth_env', 'OLD', 'NEW'],
      ['mcp.orders.url', 'http://old/mcp', 'http://new/mcp'],
      ['mcp.orders.token_env', 'OLD', 'NEW'],
    ]);
    expect(movedPlaces(stored, stored)).toEqual([]);
  });

  test('they are taken over, and nothing else is', () => {
    expect(withPlacesOf(stored, now)).toEqual(now);
    const other = suite('new', 'NEW', { labels: { a: 'b' }, trials: 7, gates_off: ['tool_score'] });
    expect(withPlacesOf(stored, other)).toEqual(now);
  });

  test('one that is left out now is taken away, one that is new is put there', () => {
    const agent: AgentConfig = { type: 'openai', model: 'm' };
    const bare = suite('old', 'OLD', { agent });
    expect(withPlacesOf(stored, bare).agent).toEqual(agent);
    expect(movedPlaces(bare, stored).map(({ before, now: after }) => [before, after])).toEqual([
      [null, 'http://old/v1'],
      [null, 'OLD'],
    ]);
  });

  test.each<[string, AgentConfig, AgentConfig]>([
    ['openai', stored.agent, now.agent],
    ['a2a', { type: 'a2a', ...a2a('http://old', 'OLD') }, { type: 'a2a', ...a2a('http://new') }],
    ['command', { type: 'command', command: ['x'], pass_env: ['A'] }, { type: 'command', command: ['x'] }],
  ] as [string, AgentConfig, AgentConfig][])('no hash covers them (%s)', async (_, before, after) => {
    expect(await hashAgent({ ...now, agent: after }, '/')).toBe(await hashAgent({ ...stored, agent: before }, '/'));
    expect(await hashSuite({ ...now, agent: after }, '/')).toBe(await hashSuite({ ...stored, agent: before }, '/'));
    expect(withPlacesOf({ ...stored, agent: before }, { ...now, agent: after }).agent).toEqual(after);
  });
});
