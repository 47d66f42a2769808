import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommandContext } from '../../../src/commands/context.ts';
import { registerScore } from '../../../src/commands/suites/score.ts';
import { InputError, UserError } from '../../../src/core/errors.ts';

let folder = '';
let out = '';
let err = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assay-score-'));
  out = '';
  err = '';
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function score(
  cases: unknown[],
  trajectories: unknown[],
  more: string[] = [],
): Promise<Record<string, unknown>[]> {
  const lines = (rows: unknown[]): string =>
    rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  await writeFile(path.join(folder, 'cases.jsonl'), lines(cases));
  await writeFile(path.join(folder, 'made.jsonl'), lines(trajectories));
  const context: CommandContext = {
    env: {},
    stdout: (text) => (out += text),
    stderr: (text) => (err += text),
    cwd: folder,
    isTty: false,
  };
  const program = new Command().exitOverride();
  registerScore(program, context);
  await program.parseAsync(['score', '--cases', 'cases.jsonl', '--trajectories', 'made.jsonl', ...more], {
    from: 'user',
  });
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const CASE = {
  id: 'refund-2',
  input: 'Refund order 88 twice',
  expected: {
    calls: [
      { tool: 'refund', args: { order: 88, reason: { any_of: ['late', 'broken'] }, note: { optional: true } } },
      { tool: 'notify', args: null },
    ],
    match: 'unordered',
    args: 'exact',
    must_not_call: ['delete_order'],
    answer_contains: ['88'],
  },
};
const call = (name: string, args: unknown, id = name): unknown => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const MESSAGES = [
  { role: 'user', content: 'Refund order 88 twice' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [call('notify', { to: 'me' }), call('refund', { order: 88, reason: 'late' })],
  },
  { role: 'tool', tool_call_id: 'notify', content: 'ok' },
  { role: 'tool', tool_call_id: 'refund', content: 'ok' },
  { role: 'assistant', content: 'Order 88 is refunded.' },
];

describe('assay score', () => {
  test('one line a trial with every score', async () => {
    const [line] = await score([CASE], [{ caseId: 'refund-2', trial: 1, messages: MESSAGES }]);
    expect(line).toMatchObject({ caseId: 'refund-2', trial: 1, passed: true });
    const scores = line?.['scores'] as { scorer: string; value: number; passed: boolean; reason: string }[];
    const byName = Object.fromEntries(scores.map((row) => [row.scorer, row]));
    expect(byName['tool_match']).toMatchObject({ value: 1, passed: true });
    expect(byName['tool_score']).toMatchObject({ value: 1 });
    expect(byName['must_not_call']).toMatchObject({ passed: true });
    expect(byName['answer_contains']).toMatchObject({ passed: true });
    for (const row of scores) expect(row.reason).not.toBe('');
  });

  test('a full trajectory, in the line or under "trajectory", scores like its messages', async () => {
    const calls = [
      { tool: 'notify', args: { to: 'me' }, turn: 0 },
      { tool: 'refund', args: { order: 88, reason: 'late' }, turn: 0 },
    ];
    const full = {
      tool_calls: calls,
      answer: 'Order 88 is refunded.',
      final_status: 'COMPLETED',
      usage: { input: 1, output: 2 },
    };
    const rows = await score(
      [CASE],
      [
        { caseId: 'refund-2', trial: 1, messages: MESSAGES },
        { caseId: 'refund-2', trial: 2, ...full },
        { caseId: 'refund-2', trial: 3, trajectory: full },
        { case_id: 'refund-2', messages: MESSAGES },
      ],
    );
    expect(rows.map((row) => [row['trial'], row['passed']])).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, true],
    ]);
    for (const row of rows.slice(1)) expect(row['scores']).toEqual(rows[0]?.['scores']);
  });

  test('a call that states no turn has one of its own beside calls that state theirs', async () => {
    const expected = {
      calls: [
        { tool: 'read', args: null },
        { tool: 'write', args: null },
      ],
      match: 'strict',
    };
    const made = (read: unknown, write: unknown): unknown => ({
      caseId: 'ordered',
      tool_calls: [
        { tool: 'write', args: {}, ...Object(write) },
        { tool: 'read', args: {}, ...Object(read) },
      ],
    });
    const rows = await score(
      [{ id: 'ordered', input: 'read, then write', expected }],
      [made({}, { turn: 1 }), made({ turn: 0 }, {}), made({}, {}), made({ turn: 4 }, { turn: 4 })],
    );
    expect(rows.map((row) => row['passed'])).toEqual([false, false, false, true]);
  });

  test('a recorded call without a name counts as made and could not be read', async () => {
    const call = { args: { order: 88 }, result: 'ok' };
    const rows = await score(
      [{ id: 'one', input: 'refund', expected: { calls: [{ tool: 'refund', args: null }] } }],
      [{ tool: '' }, { tool: null }, {}].map((name) => ({ caseId: 'one', tool_calls: [{ ...call, ...name }] })),
    );
    for (const row of rows) {
      const scores = row['scores'] as { scorer: string; value: number | null; reason: string }[];
      expect(scores.find(({ scorer }) => scorer === 'tool_schema')).toMatchObject({
        value: 0,
        reason: 'call 1 `(malformed)`: the call names no tool: "{\\"order\\":88}"',
      });
    }
  });

  test('one time without the other is no latency', async () => {
    const rows = await score(
      [{ id: 'one', input: 'x', expected: { max_latency_ms: 10 } }],
      [{ started_at_ms: 5000 }, { ended_at_ms: 5000 }, { started_at_ms: 5000, ended_at_ms: 5010 }].map((times) => ({
        caseId: 'one',
        tool_calls: [],
        ...times,
      })),
    );
    expect(rows.map((row) => row['passed'])).toEqual([null, null, true]);
  });

  test('trials without a number take the next free one', async () => {
    const made = (trial?: number): object => ({
      caseId: 'refund-2',
      ...(trial === undefined ? {} : { trial }),
      messages: MESSAGES,
    });
    const rows = await score([CASE], [made(), made(3), made(), made(), made(2 ** 40), made()]);
    expect(rows.map((row) => row['trial'])).toEqual([1, 3, 2, 4, 2 ** 40, 5]);
  });

  test('passed is false, or null when nothing decides', async () => {
    const undecided = { id: 'u', input: 'x', expected: { calls: [{ tool: 'a', args: null }] } };
    const rows = await score(
      [CASE, undecided],
      [
        { caseId: 'u', messages: [{ role: 'assistant', content: 'hi' }] },
        { caseId: 'refund-2', messages: [{ role: 'assistant', content: 'no' }] },
      ],
    );
    expect(rows.map((row) => [row['caseId'], row['passed']])).toEqual([
      ['u', null],
      ['refund-2', false],
    ]);
  });

  test('every bad line is reported at once, with its place; nothing is written', async () => {
    const bad = [
      '{"caseId": "refund-2", "messages": [',
      { caseId: 'nobody', messages: [] },
      { caseId: 'refund-2', trial: 0, messages: [] },
      { caseId: 'refund-2', trial: 5 },
      { caseId: 'refund-2', trial: 6, tool_calls: [{ tool: 'a', args: [] }] },
      { caseId: 'refund-2', trial: 7, messages: [] },
      { caseId: 'refund-2', trial: 7, messages: [] },
      [1],
    ];
    const error = await score([CASE], bad).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    const problems = (error as InputError).problems;
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 7, 8]);
    for (const [at, words] of [
      '',
      'no case has the id "nobody"',
      'whole number from 1',
      '"messages"',
      'tool_calls.0.args',
      'there twice',
      'expected an object',
    ].entries()) {
      expect(problems[at]?.message).toContain(words);
    }
    expect(out).toBe('');
  });

  test('of a hundred bad lines and more, the rest is said not to be looked at', async () => {
    const bad = Array.from({ length: 150 }, () => ({ caseId: 'nobody', messages: [] }));
    const error = await score([CASE], bad).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ hint: 'what comes after these was not looked at' });
    expect((error as Error).message.split('\n')).toHaveLength(100);
  });

  test('a slip in the key or the id of a case is named, with what was meant', async () => {
    const problemsOf = async (record: object): Promise<string[]> => {
      const caught: unknown = await score([CASE], [record]).catch((error: unknown) => error);
      if (!(caught instanceof InputError)) throw caught;
      return caught.problems.map(({ message }) => message);
    };
    const slip = '"caseId": expected the id of a case; the record has ';
    expect(await problemsOf({ case: CASE.id, messages: MESSAGES })).toEqual([`${slip}"case": write "caseId"`]);
    expect(await problemsOf({ caseid: CASE.id, messages: MESSAGES })).toEqual([`${slip}"caseid": write "caseId"`]);
    expect(await problemsOf({ messages: MESSAGES })).toEqual(['"caseId": expected the id of a case']);
    expect(await problemsOf({ caseId: 'refund2', messages: MESSAGES })).toEqual([
      'no case has the id "refund2" (did you mean "refund-2"?)',
    ]);
    await score([CASE], [{ caseId: CASE.id, messages: MESSAGES }], ['--out', 'one.jsonl']);
    expect(err).toBe('1 trial scored, written to one.jsonl\n');
  });

  test('D6: NaN and Infinity are no JSON: refused with their place, never 0', async () => {
    const bad = [
      '{"caseId": "refund-2", "trial": 1, "tool_calls": [], "usage": {"input": NaN}}',
      '{"caseId": "refund-2", "trial": 2, "tool_calls": [], "iterations": Infinity}',
      '{"caseId": "refund-2", "trial": 3, "tool_calls": [], "usage": {"input": 1e400}}',
    ];
    const error = await score([CASE], bad).catch((thrown: unknown) => thrown);
    expect((error as InputError).problems.map(({ line, column }) => [line, column])).toEqual([
      [1, 73],
      [2, 68],
      [3, 73],
    ]);
    expect((error as InputError).problems[2]?.message).toContain('usage.input: expected a number of at least 0');
    expect(out).toBe('');
  });

  describe('turns the case brought along', () => {
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
    const history = [
      { role: 'user', content: 'Delete A.' },
      { role: 'assistant', content: 'At once.', tool_calls: [call('a', 'wipe')] },
      { role: 'tool', content: 'ok', tool_call_id: 'a' },
      { role: 'assistant', content: 'Deleted.' },
      { role: 'user', content: 'Thanks. List the rest.' },
    ];
    const made = [
      { role: 'assistant', content: null, tool_calls: [call('b', 'list')] },
      { role: 'tool', content: '[]', tool_call_id: 'b' },
      { role: 'assistant', content: 'Nothing is left.' },
    ];
    const expected = {
      must_not_call: ['wipe'],
      calls: [{ tool: 'list', args: {} }],
      match: 'strict',
      max_iterations: 2,
    };
    const verdict = async (fields: object, messages: object[]): Promise<unknown> => {
      out = '';
      await score([{ id: 'c', expected, ...fields }], [{ caseId: 'c', messages }]);
      return (JSON.parse(out) as { passed: unknown }).passed;
    };
    const system = { role: 'system', content: 'You keep lists.' };

    test('are not the agent’s: neither calls nor turns of messages, nor of memory', async () => {
      const [last, memory] = [history.at(-1), history.slice(0, -1)];
      expect(await verdict({ messages: history }, [system, ...history, ...made])).toBe(true);
      expect(await verdict({ messages: history }, made)).toBe(true);
      const inParts = history.map((one) => ({ ...one, content: [{ type: 'text', text: one.content }] }));
      expect(await verdict({ messages: history }, [...inParts, ...made])).toBe(true);
      const remembered = { context: { memory }, input: last?.content };
      expect(await verdict(remembered, [system, ...history, ...made])).toBe(true);
      expect(await verdict({ context: { memory: history.slice(0, 4) }, messages: [last] }, [...history, ...made])).toBe(
        true,
      );
    });

    test('said or called again, they are; so they are in a recording that begins otherwise, or ends there', async () => {
      expect(await verdict({ messages: history }, [...history, ...history.slice(1, 3), ...made])).toBe(false);
      expect(await verdict({ messages: history }, [...history.slice(1), ...made])).toBe(false);
      expect(await verdict({ messages: history.slice(0, 4) }, history.slice(0, 4))).toBe(false);
      expect(await verdict({ input: 'Delete A.' }, [...history, ...made])).toBe(false);
    });
  });

  test('artifacts of a record are read, and what is none is refused with its place', async () => {
    const key = { kind: 'text', text: 'AKIAIOSFODNN7EXAMPLE' };
    await score([CASE], [{ caseId: 'refund-2', messages: MESSAGES, artifacts: [{ id: 'a', parts: [key] }] }]);
    expect(JSON.parse(out)).toMatchObject({ passed: false });
    expect(out).toContain('AWS access key AKIAIOSF… (20 characters) in artifact 1');
    const bad = [{ caseId: 'refund-2', messages: MESSAGES, artifacts: [{ id: 'a', parts: [{ kind: 'txt' }] }] }];
    await expect(score([CASE], bad)).rejects.toThrow('artifacts: artifact 1: expected {id, name, parts: [{kind, …}]}');
  });

  test('--out writes a file; a folder that is not there is said', async () => {
    await score([CASE], [{ caseId: 'refund-2', messages: MESSAGES }], ['--out', 'scores.jsonl']);
    expect(out).toBe('');
    expect(err).toContain('1 trial scored');
    expect(JSON.parse(await readFile(path.join(folder, 'scores.jsonl'), 'utf8'))).toMatchObject({ passed: true });
    await expect(score([CASE], [{ caseId: 'refund-2', messages: MESSAGES }], ['--out', 'no/where/x'])).rejects.toThrow(
      UserError,
    );
  });

  test('no trajectories and missing files are said', async () => {
    await expect(score([CASE], [])).rejects.toThrow('holds no trajectory');
    await expect(score([CASE], [1], ['--trajectories', 'absent.jsonl'])).rejects.toThrow('absent.jsonl');
  });

  test('long lines, CR LF, a byte-order mark and U+2028 inside a text are read', async () => {
    const long = JSON.stringify({
      caseId: 'refund-2',
      trial: 1,
      messages: [...MESSAGES, { role: 'assistant', content: `88 ${'x'.repeat(1_500_000)}` }],
    });
    const odd = JSON.stringify({
      caseId: 'refund-2',
      trial: 2,
      messages: [...MESSAGES, { role: 'assistant', content: '88 \u2028 é漢' }],
    });
    const rows = await score([CASE], [`\uFEFF${long}\r`, '\r', `${odd}\r`]);
    expect(rows.map((row) => [row['trial'], row['passed']])).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  test('big integers in arguments are not rounded into equality', async () => {
    const big = (text: string): string =>
      JSON.stringify({
        id: 'b',
        input: 'x',
        expected: { calls: [{ tool: 'f', args: { n: 0 } }], match: 'strict' },
      }).replace('"n":0', `"n":${text}`);
    const made = (text: string): string =>
      `{"caseId":"b","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\\"n\\":${text}}"}}]}]}`;
    const rows = await score([big('9007199254740993')], [made('9007199254740992'), made('9007199254740993')]);
    expect(rows.map((row) => row['passed'])).toEqual([false, true]);
  });
});

describe('a large file, scored by several threads', () => {
  const PADDING = 'x'.repeat(3_000);
  const cases = [1, 2, 3].map((n) => ({
    id: `case-${n}`,
    input: 'say it',
    expected: { answer_contains: [`number ${n}`], calls: [{ tool: 'look', args: { n } }], match: 'strict' },
  }));
  /** 2,000 lines of 3 KB: well over what one thread is left alone with; every seventh is wrong. */
  const records = Array.from({ length: 2_000 }, (_, at) => {
    const n = (at % 3) + 1;
    const messages = [
      { role: 'user', content: `say it ${PADDING}` },
      { role: 'assistant', content: null, tool_calls: [call('look', { n: at % 7 === 0 ? 9 : n }, `k${at}`)] },
      { role: 'tool', tool_call_id: `k${at}`, content: 'ok' },
      { role: 'assistant', content: `It is number ${n}.` },
    ];
    return { caseId: `case-${n}`, messages };
  });

  test('gives the lines that its parts give, in the order recorded, trials counted on', async () => {
    const whole = await score(cases, records);
    expect(whole.map((line) => line['caseId'])).toEqual(records.map((record) => record.caseId));
    expect(whole.map((line) => line['trial'])).toEqual(records.map((_, at) => Math.floor(at / 3) + 1));
    expect(whole.map((line) => line['passed'])).toEqual(records.map((_, at) => at % 7 !== 0));
    out = '';
    const part = await score(cases, records.slice(900, 1_000));
    expect(whole.slice(900, 1_000).map((line) => line['scores'])).toEqual(part.map((line) => line['scores']));
  });

  test('names every bad line, in their order, and prints nothing', async () => {
    const bad: unknown[] = [...records];
    bad[1_999] = { caseId: 'case-9', messages: [] };
    bad[1_200] = { ...records[1_200], trial: 7 };
    bad[700] = '{"caseId": "case-1", ';
    const thrown = await score(cases, bad).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(InputError);
    const places = (thrown as InputError).problems.map(({ line, message }) => [line, message]);
    expect(places).toEqual([
      [701, expect.stringContaining('the end')],
      [1_201, expect.stringContaining('trial 7 of case "case-1" is there twice')],
      [2_000, expect.stringContaining('no case has the id "case-9"')],
    ]);
    expect(out).toBe('');
  });

  test('says what is wrong with the cases once', async () => {
    const thrown = await score([{ id: 'a', input: 'x', expected: { calls: 5 } }], records).catch(
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(InputError);
    expect((thrown as InputError).problems).toHaveLength(1);
  });
});
