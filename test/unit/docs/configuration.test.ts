import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../../src/config.ts';
import { DEFAULT_GATES } from '../../../src/core/gate.ts';
import { suiteSchema } from '../../../src/core/suite.schema.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** First and second cell of every table row of the page whose first cell is code. */
function documented(): Map<string, string> {
  const rows = new Map<string, string>();
  for (const line of read('docs/configuration.md').split('\n')) {
    const row = /^\| `([^`]+)`\s*\|\s*(.*?)\s*\|/.exec(line);
    if (row === null) continue;
    const [, name = '', shown = ''] = row;
    if (rows.has(name)) throw new Error(`docs/configuration.md has two rows for ${name}`);
    rows.set(name, shown.replaceAll('`', ''));
  }
  return rows;
}

const rows = documented();
const isVariable = (name: string): boolean => /^[A-Z][A-Za-z_]*$/.test(name);

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
}

/** Variables the code reads: the schema of config.ts, and every `env['NAME']`. */
function variablesRead(): Set<string> {
  const names = new Set<string>();
  for (const match of read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)) names.add(match[1] ?? '');
  for (const text of sources('src')) {
    for (const match of text.matchAll(/\benv\[['"]([A-Za-z_]+)['"]\]/g)) names.add(match[1] ?? '');
  }
  // Windows spellings of two of them; and one that the Temporal client reads, named in the text.
  for (const name of ['SYSTEMROOT', 'Path', 'TEMPORAL_API_KEY']) names.delete(name);
  return names;
}

describe('environment variables', () => {
  const known = variablesRead();

  test('the search finds both kinds', () => {
    expect(known).toContain('ASSAY_SHARD_WINDOW');
    expect(known).toContain('NO_COLOR');
  });

  test('every one that the code reads has a row, and none has one that it does not', () => {
    expect([...rows.keys()].filter(isVariable).sort()).toEqual([...known].sort());
  });

  test('defaults are those of the code', () => {
    const config = readConfig({}, root);
    const stated = (name: string): string | undefined => rows.get(name);
    expect(stated('TEMPORAL_NAMESPACE')).toBe(config.namespace);
    expect(path.resolve(root, stated('ASSAY_HOME') ?? '')).toBe(config.home);
    expect(stated('ASSAY_TASK_QUEUE')).toBe(config.taskQueue);
    expect(stated('ASSAY_AGENT_TASK_QUEUE')).toBe('ASSAY_TASK_QUEUE');
    expect(config.agentTaskQueue).toBe(config.taskQueue);
    expect(stated('ASSAY_JUDGE_TASK_QUEUE')).toBe('ASSAY_TASK_QUEUE');
    expect(config.judgeTaskQueue).toBe(config.taskQueue);
    expect(stated('ASSAY_MAX_ACTIVITIES')).toBe(String(config.maxActivities));
    expect(stated('ASSAY_HEARTBEAT_TIMEOUT_MS')).toBe(String(config.heartbeatTimeoutMs));
    expect(stated('ASSAY_SHARD_SIZE')).toBe(String(config.shardSize));
    expect(stated('ASSAY_SHARD_WINDOW')).toBe(String(config.shardWindow));
    expect(stated('ASSAY_ENDPOINT_GRACE_MS')).toBe(String(config.endpointGraceMs));
    expect(stated('ASSAY_LOG_LEVEL')).toBe(config.logLevel);
  });
});

interface Schema {
  type?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
  items?: Schema;
}

interface Key {
  required: boolean;
  /** As JSON; undefined where the schema gives none. */
  fallback: string | undefined;
}

/** Tools and fixtures are described where cases are: only the keys themselves belong here. */
const ELSEWHERE = new Set(['tools', 'fixtures', 'datasets', 'decides', 'labels', 'gates_off', 'extra_body', 'options']);

/** Every key of the schema, dotted; `MODEL` stands for the keys of a map, `[]` for the items of a list. */
function keysOf(schema: Schema, prefix = '', found = new Map<string, Key>()): Map<string, Key> {
  for (const variant of [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) {
    for (const [name, property] of Object.entries(variant.properties ?? {})) {
      const key = `${prefix}${name}`;
      const inner = nested(property);
      const fallback = property.default === undefined ? undefined : JSON.stringify(property.default);
      // A group of keys is a heading, unless it is a map or a list with an own default.
      if (inner === null || inner.prefix !== '.') {
        found.set(key, { required: variant.required?.includes(name) ?? false, fallback });
      }
      if (inner !== null && !ELSEWHERE.has(name)) keysOf(inner.schema, `${key}${inner.prefix}`, found);
    }
  }
  return found;
}

function nested(property: Schema): { schema: Schema; prefix: string } | null {
  if (property.type === 'array' && property.items?.properties) return { schema: property.items, prefix: '[].' };
  if (typeof property.additionalProperties === 'object' && property.additionalProperties.properties) {
    return { schema: property.additionalProperties, prefix: '.MODEL.' };
  }
  const isGroup = property.properties ?? property.oneOf ?? property.anyOf?.find((one) => one.properties);
  return isGroup === undefined ? null : { schema: property, prefix: '.' };
}

describe('suite keys', () => {
  const keys = keysOf(z.toJSONSchema(suiteSchema, { io: 'input', unrepresentable: 'any' }) as Schema);
  // Read before the schema is applied (datasets/load-suite.ts, suite-source.ts).
  for (const name of ['extends', 'allow_outside']) keys.set(name, { required: false, fallback: undefined });

  test('the walk reaches maps, lists, unions and groups', () => {
    for (const key of ['prices.MODEL.output', 'gates[].tag', 'agent.path', 'judge.seed', 'tool_score.weights.args']) {
      expect([...keys.keys()]).toContain(key);
    }
  });

  test('every key of the schema has a row, and none has one that it does not know', () => {
    const stated = [...rows.keys()].filter((name) => !isVariable(name));
    expect(stated.sort()).toEqual([...keys.keys()].sort());
  });

  /** Defaults that are given in words, or by the loader before the schema is applied. */
  const IN_WORDS: Record<string, string> = {
    'agent.type': 'from the keys',
    'judge.model': "the agent's",
    'judge.dimensions': 'two of them',
    'gates[].name': 'from its metric',
    'gates[].metric': 'completion_rate',
    'tool_score.weights.names': '0.4',
    'tool_score.weights.args': '0.3',
    'tool_score.weights.order': '0.3',
  };

  test.each([...keys])('%s: required and default are those of the code', (name, key) => {
    const stated = rows.get(name);
    if (IN_WORDS[name] !== undefined) expect(stated).toBe(IN_WORDS[name]);
    else if (key.required) expect(stated).toBe('required');
    else if (key.fallback !== undefined) expect(stated).toBe(key.fallback.replaceAll('"', ''));
    else expect(stated).not.toBe('required');
  });
});

test('docs/gates.md lists every default gate', () => {
  const page = read('docs/gates.md');
  for (const { name } of DEFAULT_GATES) expect(page).toContain(`| \`${name}\``);
});
