import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { createRandom } from '../../../src/statistics/random.ts';
import { openWorkplace, type Workplace } from './assay.ts';

/**
 * The dialogues of API-Bank level 1 (several user turns, one or more calls, the real result of each call) through the whole
 * of Assay: files, command, Temporal, Postgres, agent over HTTP, mock world, scorers. Data: ASSAY_CASES_DIR, default
 * ../shared/cases.
 */
const file = path.join(process.env['ASSAY_CASES_DIR'] ?? '../shared/cases', 'apibank_lv1.jsonl');
const present = existsSync(file);
/** Seconds each on a quiet machine, more on a busy one. */
const TIMEOUT_MS = 180_000;
const SEED = 20_231;
const DECOY = 'NoteToSelf';

interface Call {
  tool: string;
  args: JsonObject;
}

interface Dialogue {
  id: string;
  turns: string[];
  expectedTools: Call[];
  mocks: (Call & { result: unknown; error: null })[];
  referenceAnswer: string;
}

function readDialogues(): Dialogue[] {
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  // One of the 214 has no user turn: there is nothing to say to the agent.
  return rows.map((row) => JSON.parse(row) as Dialogue).filter(({ turns }) => turns.length > 0);
}

/** Equal calls of a dialogue are one fixture, whose results follow one another. */
function fixturesOf({ mocks }: Dialogue): object[] {
  const byCall = new Map<string, { tool: string; args: JsonObject; match: 'exact'; replies: object[] }>();
  for (const { tool, args, result } of mocks) {
    const key = JSON.stringify([tool, Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const fixture = byCall.get(key) ?? { tool, args, match: 'exact', replies: [] };
    byCall.set(key, fixture);
    fixture.replies.push({ result });
  }
  return [...byCall.values()];
}

function toolsOf({ expectedTools }: Dialogue): string[] {
  return [...new Set(expectedTools.map(({ tool }) => tool)), DECOY];
}

function caseOf(dialogue: Dialogue): object {
  return {
    id: dialogue.id,
    turns: dialogue.turns,
    tools: toolsOf(dialogue),
    expected: { calls: dialogue.expectedTools, match: 'strict', answer_equals: dialogue.referenceAnswer },
    mock: { tools: fixturesOf(dialogue) },
  };
}

/**
 * The scripted agent of a dialogue: hears the user out, makes its calls one a turn, answers. Rules hold for one dialogue only:
 * on all that was said so far, and on a tool of the dialogue.
 */
function rulesOf(dialogue: Dialogue, calls: readonly Call[]): object[] {
  const { id, turns } = dialogue;
  const heard = turns.length - 1;
  const rule = (turn: number, reply: object): object => ({
    name: `${id} turn ${turn}`,
    when: {
      user_contains: turns[Math.min(turn, heard)],
      contains: turns.slice(0, turn + 1),
      has_tool: dialogue.expectedTools.at(-1)?.tool ?? DECOY,
      turn,
    },
    reply,
  });
  return [
    ...turns.slice(1).map((_next, turn) => rule(turn, { content: 'I see. What else?' })),
    ...calls.map(({ tool, args }, at) => rule(heard + at, { tool_calls: [{ name: tool, arguments: args }] })),
    rule(heard + calls.length, { content: dialogue.referenceAnswer }),
  ];
}

async function evaluate(
  place: Workplace,
  name: string,
  dialogues: Dialogue[],
  callsOf: (dialogue: Dialogue) => readonly Call[],
): Promise<{ code: number; err: string }> {
  // More turns first: what one dialogue says may be how another, longer one begins.
  const longestFirst = dialogues.toSorted((a, b) => b.turns.length - a.turns.length);
  const rules = longestFirst.flatMap((dialogue) => rulesOf(dialogue, callsOf(dialogue)));
  place.write('cases.jsonl', dialogues.map((dialogue) => JSON.stringify(caseOf(dialogue))).join('\n'));
  place.write(`${name}.model.yaml`, JSON.stringify({ model: 'scripted-1', rules }));
  const tools = [...new Set(dialogues.flatMap(toolsOf))].map((tool) => ({ name: tool }));
  place.write(
    `${name}.yaml`,
    JSON.stringify({
      name,
      kind: 'deep',
      datasets: ['cases.jsonl'],
      offline_model: `${name}.model.yaml`,
      tools,
      agent: { type: 'openai', model: 'scripted-1' },
      judge: null,
      concurrency: 20,
    }),
  );
  const { code, err } = await place.run('run', `${name}.yaml`, '--id', name);
  return { code, err };
}

/** Numbers in [0, 1) that depend on the seed alone. */
function uniform(seed: number): () => number {
  const fill = createRandom(seed);
  const next = new Int32Array(1);
  return () => {
    fill(next);
    return (next[0]! >>> 0) / 2 ** 32;
  };
}

interface StoredScore {
  case_id: string;
  scorer: string;
  value: number | null;
  passed: boolean | null;
  reason: string;
}

async function scoresOf(place: Workplace, evaluation: string, scorer: string): Promise<Map<string, StoredScore>> {
  const { rows } = await sql<StoredScore>`
    select case_id, scorer, value, passed, reason from score
    where evaluation_id = ${evaluation} and scorer = ${scorer}`.execute(place.db);
  return new Map(rows.map((row) => [row.case_id, row]));
}

/** A dialogue's calls with one of them done wrong, and what a reader must be told of it. */
interface Mutation {
  kind: string;
  calls: Call[];
  tool: string;
  words: string[];
}

function mutate({ expectedTools }: Dialogue, random: () => number): Mutation {
  const pick = (count: number): number => Math.floor(random() * count);
  const at = pick(expectedTools.length);
  const call = expectedTools[at];
  // Two dialogues need no call at all.
  if (call === undefined)
    return { kind: 'uncalled for', calls: [{ tool: DECOY, args: {} }], tool: DECOY, words: ['wanted no such call'] };
  const keys = Object.keys(call.args);
  const key = keys[pick(keys.length)];
  const kinds = ['dropped', 'other tool', 'made twice', ...(key === undefined ? [] : ['wrong value', 'missing key'])];
  const kind = kinds[pick(kinds.length)]!;
  const put = (...calls: Call[]): Call[] => expectedTools.toSpliced(at, 1, ...calls);
  switch (kind) {
    case 'dropped':
      return { kind, calls: put(), tool: call.tool, words: ['wanted'] };
    case 'other tool':
      return { kind, calls: put({ tool: DECOY, args: call.args }), tool: call.tool, words: ['wanted'] };
    case 'made twice':
      return { kind, calls: put(call, call), tool: call.tool, words: ['wanted no such call'] };
    case 'wrong value': {
      const wrong = `${JSON.stringify(call.args[key!])} (wrong)`;
      const calls = put({ tool: call.tool, args: { ...call.args, [key!]: wrong } });
      return { kind, calls, tool: call.tool, words: [`\`${key!}\``, 'wanted', 'got'] };
    }
    default: {
      const { [key!]: _left, ...rest } = call.args;
      return { kind, calls: put({ tool: call.tool, args: rest }), tool: call.tool, words: [`\`${key!}\``, '(absent)'] };
    }
  }
}

describe.skipIf(!present && process.env['CI'] === undefined)('API-Bank, 213 dialogues end to end', () => {
  let place: Workplace;
  let dialogues: Dialogue[];

  beforeAll(async () => {
    dialogues = readDialogues();
    place = await openWorkplace({ cases: [] });
  });
  afterAll(() => place.close());

  test(
    'the right calls: every tool score is 1, every match passes, the mocks answered with the real results',
    async () => {
      expect(dialogues).toHaveLength(213);
      const { code, err } = await evaluate(place, 'right', dialogues, ({ expectedTools }) => expectedTools);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      for (const scorer of ['tool_score', 'tool_match', 'answer_equals']) {
        const scores = await scoresOf(place, 'right', scorer);
        expect(scores.size, scorer).toBe(213);
        expect(
          [...scores.values()].filter(({ value }) => value !== 1),
          scorer,
        ).toEqual([]);
      }
      const { rows } = await sql<{ case_id: string; trajectory: Trajectory }>`
        select case_id, body as trajectory from trajectory where evaluation_id = 'right'`.execute(place.db);
      const byId = new Map(rows.map((row) => [row.case_id, row.trajectory]));
      for (const { id, turns, mocks } of dialogues) {
        const trajectory = byId.get(id)!;
        expect(trajectory.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(turns);
        expect(trajectory.tool_calls.map(({ result }) => result)).toEqual(mocks.map(({ result }) => result));
        expect(trajectory.unmatched_calls).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'one call of each done wrong: every match fails and names the call',
    async () => {
      const random = uniform(SEED);
      const mutations = new Map(dialogues.map((dialogue) => [dialogue.id, mutate(dialogue, random)]));
      const { code } = await evaluate(place, 'mutated', dialogues, ({ id }) => mutations.get(id)!.calls);
      expect(code).toBe(1);
      const [match, score] = [
        await scoresOf(place, 'mutated', 'tool_match'),
        await scoresOf(place, 'mutated', 'tool_score'),
      ];
      expect(match.size).toBe(213);
      const unnamed: string[] = [];
      for (const [id, { kind, tool, words }] of mutations) {
        const { passed, reason } = match.get(id)!;
        const told = passed === false && [`\`${tool}\``, ...words].every((word) => reason.includes(word));
        if (!told) unnamed.push(`${id}: ${kind} of ${tool}: ${String(passed)} ${reason}`);
        // Repeated extras cost the weighted score nothing; everything else does.
        if (kind === 'made twice') expect(score.get(id)?.value, id).toBe(1);
        else expect(score.get(id)?.value, id).toBeLessThan(1);
      }
      expect(unnamed).toEqual([]);
      // Every kind was drawn, so none of them passes unseen.
      expect(new Set([...mutations.values()].map(({ kind }) => kind)).size).toBe(6);
    },
    TIMEOUT_MS,
  );
});

test.runIf(!present && process.env['CI'] === undefined)('API-Bank was SKIPPED: no data', () => {
  console.warn(`API-Bank SKIPPED: ${file} is absent; set ASSAY_CASES_DIR`);
  expect(present).toBe(false);
});
