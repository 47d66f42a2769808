import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EvalCase, ToolDefinition } from '../../../src/core/case.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { isJsonObject } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/lossless-json.ts';
import { caseFromBfcl } from '../../../src/datasets/shapes/bfcl.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import { SUITE, trajectory } from './fixtures.ts';

/**
 * Conformance with the official AST checker of the Berkeley Function-Calling Leaderboard v4 on 8,581 answers whose verdict
 * it gave. Data: ASSAY_CASES_DIR, default ../shared/cases.
 */
const folder = path.join(process.env['ASSAY_CASES_DIR'] ?? '../shared/cases', 'bfcl');
const present = existsSync(path.join(folder, 'checked_answers.jsonl'));
/** 8,581 answers: seconds on a quiet machine, more on a busy one. */
const TIMEOUT_MS = 90_000;
const CATEGORIES = ['simple_python', 'parallel', 'parallel_multiple'] as const;

/** Differences that are meant, with their reason. */
const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'parallel_178 reversed':
    'the official checker takes the first call that fits and never gives it back: Apple 2022-01-01 goes to the expected call that also accepts Microsoft, whose own call then fits nothing; an optimal assignment finds all four',
};

function lines(file: string): JsonObject[] {
  const text = readFileSync(path.join(folder, file), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const parsed = parseJson(line);
      if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`${file}: ${line.slice(0, 100)}`);
      return parsed.value;
    });
}

/** Accepted values as BFCL lists them, in the case format: `""` among them = may be left out. */
function acceptedValues(values: Json[]): JsonObject {
  const options = values.filter((value) => value !== '').map(acceptedValue);
  const left = values.includes('') ? { optional: true } : {};
  return options.length === 0 ? left : { any_of: options, ...left };
}

function acceptedValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(acceptedValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, Array.isArray(inner) ? acceptedValues(inner) : inner]),
  );
}

interface Source {
  evalCase: EvalCase;
  tools: ToolDefinition[];
}

function readSources(): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const category of CATEGORIES) {
    const tools = new Map(
      lines(`BFCL_v4_${category}.json`).map((row) => [row['id'], row['function'] as unknown as ToolDefinition[]]),
    );
    for (const row of lines(`possible_answer/BFCL_v4_${category}.json`)) {
      const calls = (row['ground_truth'] as JsonObject[]).map((call) => {
        const [name = '', args = {}] = Object.entries(call)[0] ?? [];
        const expected = Object.entries(args as Record<string, Json[]>).map(([key, values]) => [
          key,
          acceptedValues(values),
        ]);
        return { tool: name, args: Object.fromEntries(expected) as JsonObject };
      });
      const id = row['id'] as string;
      sources.set(id, {
        evalCase: { id, input: '', expected: { calls, match: 'unordered' } },
        tools: tools.get(id) ?? [],
      });
    }
  }
  return sources;
}

describe.skipIf(!present && process.env['CI'] === undefined)('BFCL conformance', () => {
  test(
    'profile bfcl gives the official verdict on 8,581 checked answers',
    () => {
      const sources = readSources();
      const answers = lines('checked_answers.jsonl');
      const differences: string[] = [];
      for (const answer of answers) {
        const id = answer['id'] as string;
        const source = sources.get(id);
        if (source === undefined) throw new Error(`no question ${id}`);
        const calls = answer['calls'] as { tool: string; args: JsonObject }[];
        const scores = scoreTrial({
          evalCase: source.evalCase,
          trajectory: trajectory(
            calls.map((call) => ({ ...call, turn: 0 })),
            { available_tools: source.tools },
          ),
          suite: { ...SUITE, tool_score: { ...SUITE.tool_score, profile: 'bfcl' } },
          costUsd: null,
        });
        const verdict = scores.find(({ scorer }) => scorer === 'tool_match');
        if (verdict?.passed === answer['valid']) continue;
        const key = `${id} ${answer['kind'] as string}`;
        if (!(key in KNOWN_DIFFERENCES))
          differences.push(
            `${key}: official ${answer['valid'] as boolean} ${answer['errorType'] as string}; ${verdict?.reason}; ${JSON.stringify(calls)}`,
          );
      }
      expect(answers).toHaveLength(8581);
      expect(differences).toEqual([]);
      expect(Object.keys(KNOWN_DIFFERENCES).length / answers.length).toBeLessThan(0.002);
    },
    TIMEOUT_MS,
  );

  test(
    'cases as `assay import bfcl` writes them get the same verdicts',
    () => {
      const sources = new Map<string, EvalCase>();
      for (const category of CATEGORIES) {
        const truths = new Map(
          lines(`possible_answer/BFCL_v4_${category}.json`).map((row) => [row['id'], row['ground_truth'] ?? null]),
        );
        for (const row of lines(`BFCL_v4_${category}.json`)) {
          const { evalCase } = caseFromBfcl(row, truths.get(row['id'] ?? null) ?? null);
          sources.set(evalCase.id, { ...evalCase, expected: { ...evalCase.expected, match: 'unordered' } });
        }
      }
      const differences = lines('checked_answers.jsonl').flatMap((answer) => {
        const id = answer['id'] as string;
        const evalCase = sources.get(id);
        if (evalCase === undefined) throw new Error(`no case ${id}`);
        const calls = answer['calls'] as { tool: string; args: JsonObject }[];
        const verdict = scoreTrial({
          evalCase,
          trajectory: trajectory(calls.map((call) => ({ ...call, turn: 0 }))),
          suite: { ...SUITE, tool_score: { ...SUITE.tool_score, profile: 'bfcl' } },
          costUsd: null,
        }).find(({ scorer }) => scorer === 'tool_match');
        return verdict?.passed === answer['valid'] ? [] : [`${id} ${answer['kind'] as string}`];
      });
      expect(differences).toEqual(Object.keys(KNOWN_DIFFERENCES));
    },
    TIMEOUT_MS,
  );

  test('irrelevance: no call is right, any call is wrong', () => {
    const questions = lines('BFCL_v4_irrelevance.json');
    expect(questions.length).toBeGreaterThan(200);
    for (const question of questions) {
      const tools = question['function'] as unknown as ToolDefinition[];
      const match = (calls: string[]): boolean | null | undefined =>
        scoreTrial({
          evalCase: { id: question['id'] as string, input: '', expected: { calls: [], match: 'unordered' } },
          trajectory: trajectory(calls),
          suite: { ...SUITE, tool_score: { ...SUITE.tool_score, profile: 'bfcl' } },
          costUsd: null,
        }).find(({ scorer }) => scorer === 'tool_match')?.passed;
      expect(match([])).toBe(true);
      expect(match([tools[0]?.name ?? 'x'])).toBe(false);
    }
  });
});

test.runIf(!present && process.env['CI'] === undefined)('BFCL conformance was SKIPPED: no data', () => {
  console.warn(`BFCL conformance SKIPPED: ${folder} is absent; set ASSAY_CASES_DIR`);
  expect(present).toBe(false);
});
