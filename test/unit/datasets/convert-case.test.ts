import { describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { convertCase } from '../../../src/datasets/shapes/convert-case.ts';
import { parseJsonSource } from '../../../src/datasets/readers/read-json.ts';
import { parseYamlSource } from '../../../src/datasets/readers/read-yaml.ts';
import { briefly, collecting } from './temporary-folder.ts';

function convert(record: unknown): { evalCase: EvalCase | null; errors: string[]; warnings: string[] } {
  const { problems, report } = collecting();
  const source = parseJsonSource(JSON.stringify(record), 'c.json', report)!;
  const evalCase = convertCase(source, report);
  const of = (severity: string): string[] =>
    problems.filter((problem) => problem.severity === severity).map((problem) => problem.message);
  return { evalCase, errors: of('error'), warnings: of('warning') };
}

describe('canonical', () => {
  test('the example of the documentation', () => {
    const record = {
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
    expect(convert(record)).toEqual({ evalCase: record, errors: [], warnings: [] });
  });

  test('short forms are written out', () => {
    const { evalCase } = convert({
      id: 7,
      input: 'x',
      tags: 'a',
      timeout: '1.5s',
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }, 'g'],
      expected: { calls: ['f', { tool: 'g' }], answer_contains: 'y', must_call: 'f', number: 5, criteria: ['a', 'b'] },
      mock: {
        fixtures: 'one',
        tools: [
          { tool: 'f', result: 1 },
          { tool: 'g', replies: [{ fail: 'timeout' }, { result: null }] },
        ],
      },
    });
    expect(evalCase).toEqual({
      id: '7',
      input: 'x',
      tags: ['a'],
      timeout_ms: 1500,
      tools: [{ name: 'f', parameters: {} }, 'g'],
      expected: {
        calls: [
          { tool: 'f', args: null },
          { tool: 'g', args: null },
        ],
        answer_contains: ['y'],
        must_call: ['f'],
        number: { value: 5 },
        criteria: 'a\nb',
      },
      mock: {
        fixtures: ['one'],
        tools: [
          { tool: 'f', replies: [{ result: 1 }] },
          { tool: 'g', replies: [{ fail: { kind: 'timeout' } }, { result: null }] },
        ],
      },
    });
  });

  test.each([
    [{ id: 'a' }, 'expected exactly one of input, messages, turns; got none'],
    [
      { id: 'a', input: 'x', turns: ['y'] },
      'turns: expected exactly one of input, messages, turns; got input and turns',
    ],
    [{ input: 'x' }, 'id: expected text, got null'],
    [{ id: '', input: 'x' }, 'id: must not be empty'],
    [{ id: 'x'.repeat(301), input: 'x' }, 'an id has at most 300 characters'],
    [{ id: 'a', input: 5 }, 'input: expected text, got number 5; put it in quotes: "5"'],
    [{ id: 'a', input: 'x', expcted: {} }, 'unknown key "expcted" (did you mean "expected"?)'],
    [
      { id: 'a', input: 'x', expected: { must_cal: ['f'] } },
      'expected: unknown key "must_cal" (did you mean "must_call"?)',
    ],
    [{ id: 'a', input: 'x', expected: { final_status: 'ESCALATE' } }, '(did you mean "ESCALATED"?)'],
    [
      { id: 'a', input: 'x', difficulty: 'easy' },
      'difficulty: expected one of EASY, MEDIUM, HARD, got text "easy" (did you mean "EASY"?)',
    ],
    [{ id: 'a', input: 'x', expected: { match: 'strict' } }, 'expected.match: there are no expected.calls to match'],
    [{ id: 'a', input: 'x', expected: { calls: [], any_of: [{ calls: [] }] } }, 'either calls or any_of'],
    [
      { id: 'a', input: 'x', expected: { must_call: ['f'], must_not_call: ['f'] } },
      'must_call[0]: f is in must_not_call too',
    ],
    [
      { id: 'a', input: 'x', expected: { prompt_segments: ['base', { name: 'topic' }, 'base'] } },
      'prompt_segments[2]: base is listed twice',
    ],
    [{ id: 'a', input: 'x', expected: { answer_matches: ['(a+'] } }, 'answer_matches[0]: not a regular expression'],
    [{ id: 'a', input: 'x', expected: { answer_matches: ['(?=a)b'] } }, 'no look-around'],
    [{ id: 'a', input: 'x', trials: 0 }, 'trials: expected at least 1, got 0'],
    [{ id: 'a', input: 'x', timeout: 30 }, 'unknown key "timeout"'],
    [{ id: 'a', input: 'x', mock: { tools: [{ tool: 'f', fail: 'time_out' }] } }, 'mock.tools[0].replies[0].fail.kind'],
    [{ id: 'a', input: 'x', mock: { tools: [{ tool: 'f' }] } }, 'expected a reply: `result` or `fail`, or `replies`'],
    [{ id: 'a', input: 'x', mock: { tools: [{ tool: 'f', reslt: 1 }] } }, '"reslt" (did you mean "result"?)'],
    [{ id: 'a', messages: [{ role: 'usr', content: 'x' }] }, '(did you mean "user"?)'],
    ['text', 'expected a case (an object with id and input), got text "text"'],
  ])('%j is refused', (record, message) => {
    const { evalCase, errors } = convert(record);
    expect(evalCase).toBeNull();
    expect(errors.join('\n')).toContain(message);
  });

  test('every problem of a case at once', () => {
    const { errors } = convert({
      id: 'a',
      input: 5,
      expected: { match: 'stric', must_cal: ['x'], calls: [{ tool: 'f', args: { v: { regex: '(' } } }] },
    });
    expect(errors).toHaveLength(4);
  });

  test('D5: NUL and lone surrogates in input, ids and argument keys stay as they are', () => {
    const record = {
      id: 'a\u0000\ud800',
      input: '\udfff\u0000',
      expected: { calls: [{ tool: 'f', args: { 'k\u0000': '\ud800' } }] },
    };
    expect(convert(record).evalCase).toEqual(record);
  });

  test('T13: __proto__ in arguments and results is data', () => {
    const record = JSON.parse(
      '{"id":"a","input":"x","expected":{"calls":[{"tool":"f","args":{"__proto__":{"p":1},"constructor":1}}]},"metadata":{"__proto__":{"p":1}}}',
    ) as unknown;
    const { evalCase } = convert(record);
    expect(JSON.stringify(evalCase)).toBe(JSON.stringify(record));
    expect(({} as Record<string, unknown>)['p']).toBeUndefined();
  });

  test('D8: ids are data: slashes, emoji, reserved names, 300 characters', () => {
    for (const id of ['../../etc/passwd', 'a/b', 'CON', '🧪 测试', 'x'.repeat(300), ' ', '\n']) {
      expect(convert({ id, input: 'x' }).evalCase?.id).toBe(id);
    }
  });
});

describe('ways with and without a match', () => {
  const call = [{ tool: 'f', args: null }];
  test.each([
    [[{ calls: call, match: 'strict' }, { calls: [] }], {}, 1],
    [[{ calls: [] }, { calls: call, match: 'strict' }], {}, 0],
    [[{ calls: [] }, { calls: call, match: 'strict' }], { match: 'superset' }, null],
    [[{ calls: [] }, { calls: call }], {}, null],
    [
      [
        { calls: [], match: 'strict' },
        { calls: call, match: 'strict' },
      ],
      {},
      null,
    ],
  ])('%j %j: a warning at way %j', (any_of, more, at) => {
    const { errors, warnings } = convert({ id: 'a', input: 'x', expected: { any_of, ...more } });
    expect(errors).toEqual([]);
    expect(warnings).toEqual(at === null ? [] : [expect.stringContaining(`any_of[${at}]: has no match`)]);
  });
});

describe('matchers', () => {
  const withArg = (value: unknown): unknown => ({
    id: 'a',
    input: 'x',
    expected: { calls: [{ tool: 'f', args: { v: value } }] },
  });

  test.each([
    [{ any_of: [1, { number: { value: 2, abs: 0.1, rel: 0.2 } }], optional: true }],
    [{ regex: '^A-\\d+$' }],
    [{ date: { value: '2026-03-01', format: 'DD.MM.YYYY' } }],
    [{ unordered: [1, 2], ignore_case: true, coerce: true }],
    [{ schema: { type: 'object' } }],
    [{ any: true }],
    [{ equals: { any_of: 'literal' } }],
    [{ nested: [{ any_of: ['x'] }], any_of_things: 1 }],
    [{ number: { $bignum: '9007199254740993' } }],
    [{}],
  ])('%j is accepted', (value) => {
    expect(convert(withArg(value))).toMatchObject({ errors: [], warnings: [] });
  });

  test.each([
    [{ any_of: 'late' }, 'v.any_of: expected a list of accepted values, got text "late"'],
    [{ any_of: [] }, 'v.any_of: expected at least one'],
    [{ optional: 'yes' }, 'v.optional: expected true or false'],
    [{ number: { value: '1' } }, 'v.number: value: expected a number'],
    [{ number: { value: 1, tol: 1 } }, 'v.number: unknown key "tol"'],
    [{ number: { value: 1, abs: -1 } }, 'abs: expected a number of at least 0'],
    [{ regex: '(a)\\1' }, 'v.regex: not a regular expression'],
    [{ date: { value: 5 } }, 'v.date: value: expected text'],
    [{ schema: 'object' }, 'v.schema: expected a JSON Schema object'],
    [{ deep: [{ x: { any_of: [{ regex: '[' }] } }] }, 'v.deep[0].x.any_of[0].regex: not a regular expression'],
  ])('%j is refused', (value, message) => {
    expect(convert(withArg(value)).errors.join('\n')).toContain(message);
  });

  test('an object with a misspelt keyword is a literal, with a warning', () => {
    const { evalCase, warnings } = convert(withArg({ any_of: [1], optionl: true }));
    expect(evalCase).not.toBeNull();
    expect(warnings.join('\n')).toContain('"optionl" is no matcher keyword');
  });

  test('a tool whose argument names are keywords: the arguments themselves are no matcher', () => {
    const record = { id: 'a', input: 'x', expected: { calls: [{ tool: 'f', args: { number: 5, date: 'today' } }] } };
    expect(convert(record)).toMatchObject({ evalCase: record, errors: [] });
  });
});

describe('shape A', () => {
  test('becomes canonical', () => {
    const { evalCase } = convert({
      id: 'TC-002',
      input: 'C栋数据中心上周趋势',
      expectedTools: [
        { toolName: 'query_energy_trend', expectedArgs: { areaName: 'C栋数据中心', days: 7 } },
        { toolName: 'send_alert', expectedArgs: null },
      ],
      referenceAnswer: '8734.6 kWh',
      category: '复合任务',
      difficulty: 'HARD',
    });
    expect(evalCase).toEqual({
      id: 'TC-002',
      input: 'C栋数据中心上周趋势',
      expected: {
        calls: [
          { tool: 'query_energy_trend', args: { areaName: 'C栋数据中心', days: 7 } },
          { tool: 'send_alert', args: null },
        ],
        answer: '8734.6 kWh',
      },
      category: '复合任务',
      difficulty: 'HARD',
    });
  });

  test('an empty list says that no call is right; an absent one says nothing', () => {
    expect(convert({ id: 'a', input: 'x', expectedTools: [], referenceAnswer: 'y' }).evalCase?.expected.calls).toEqual(
      [],
    );
    expect(convert({ id: 'a', input: 'x', referenceAnswer: 'y' }).evalCase?.expected.calls).toBeUndefined();
  });

  test('errors speak of the shape and its own names', () => {
    const { errors } = convert({
      id: 'a',
      input: 'x',
      expectedTools: [{ toolName: 'f', expectedArgs: { v: { regex: '(' } } }],
    });
    expect(errors[0]).toContain(
      'case "a" (shape A: expectedTools, referenceAnswer): expectedTools[0].expectedArgs.v.regex: not a',
    );
  });
});

describe('shape B', () => {
  test('becomes canonical: situation and goal are the input, mock names fixtures', () => {
    const { evalCase } = convert({
      id: 'ops-1',
      case: 'P99 latency rose.',
      goal: 'Find out why.',
      mock: 'metrics-high-latency, change-recent',
      expect: {
        must_call: ['queryMetrics'],
        must_not_call: ['restartService'],
        answer_contains: ['v2.3.1'],
        max_iterations: 8,
        max_tokens: 100000,
        final_status: 'COMPLETED',
      },
    });
    expect(evalCase).toEqual({
      id: 'ops-1',
      input: 'P99 latency rose.\n\nFind out why.',
      mock: { fixtures: ['metrics-high-latency', 'change-recent'] },
      expected: {
        must_call: ['queryMetrics'],
        must_not_call: ['restartService'],
        answer_contains: ['v2.3.1'],
        max_iterations: 8,
        max_tokens: 100000,
        final_status: 'COMPLETED',
      },
    });
  });

  test('mock may be a list or the canonical object', () => {
    expect(convert({ id: 'a', goal: 'x', mock: ['m'] }).evalCase?.mock).toEqual({ fixtures: ['m'] });
    expect(convert({ id: 'a', goal: 'x', mock: { unmatched: 'empty' } }).evalCase?.mock).toEqual({
      unmatched: 'empty',
    });
  });

  test('errors name expect, not expected', () => {
    const { errors } = convert({ id: 'a', goal: 'x', expect: { must_cal: ['f'] } });
    expect(errors[0]).toContain(
      '(shape B: case, goal, expect): expect: unknown key "must_cal" (did you mean "must_call"?)',
    );
  });
});

describe('shape C', () => {
  test('becomes canonical', () => {
    const { evalCase, errors, warnings } = convert({
      id: 'c',
      dimension: 'rag_recall',
      query: 'What did the report say?',
      context: {
        availableTools: ['search'],
        ragDocuments: [{ docId: 'd1', content: 'text' }],
        memorySnapshot: null,
        promptSegments: [],
      },
      expected: { tools: ['search', { tool: 'calc', args: { x: 1 } }], answerCriteria: ['a', 'b'], docIds: ['d1'] },
    });
    expect([errors, warnings]).toEqual([[], []]);
    expect(evalCase).toEqual({
      id: 'c',
      dimension: 'rag_recall',
      input: 'What did the report say?',
      tools: ['search'],
      context: { memory: undefined, documents: [{ id: 'd1', text: 'text' }], prompt_segments: [] },
      expected: {
        calls: [
          { tool: 'search', args: null },
          { tool: 'calc', args: { x: 1 } },
        ],
        criteria: 'a\nb',
        doc_ids: ['d1'],
      },
    });
  });

  const VALUES: Record<string, unknown> = {
    'context.availableTools': ['t'],
    'context.memorySnapshot': [{ role: 'user', content: 'x' }],
    'context.ragDocuments': [{ id: 'd', text: 'x' }],
    'context.promptSegments': [{ name: 'base', text: 'x' }],
    'context.subAgentBehavior': { name: 's' },
    'expected.tools': ['t'],
    'expected.answerCriteria': 'x',
    'expected.docIds': ['d'],
  };
  // product.md: R required, O optional, - not applicable; in the order of VALUES.
  const MATRIX = {
    tool_selection: 'R----RR-',
    prompt_assembly: '---R--R-',
    subagent_isolation: 'R---RRR-',
    rag_recall: 'O-R--ORR',
    answer_completeness: 'O-R--ORR',
    multi_turn_coherence: '-R----R-',
  };
  const record = (dimension: string, paths: string[]): unknown => {
    const out: { context: Record<string, unknown>; expected: Record<string, unknown> } = { context: {}, expected: {} };
    for (const path of paths) {
      const [group, key] = path.split('.') as ['context' | 'expected', string];
      out[group][key] = VALUES[path];
    }
    return { id: 'c', dimension, query: 'q', ...out };
  };

  test.each(Object.entries(MATRIX))('field matrix of %s', (dimension, row) => {
    const paths = Object.keys(VALUES);
    const required = paths.filter((_, i) => row[i] === 'R');
    const optional = paths.filter((_, i) => row[i] === 'O');
    const other = paths.filter((_, i) => row[i] === '-');
    expect(convert(record(dimension, required))).toMatchObject({ errors: [], warnings: [] });
    expect(convert(record(dimension, [...required, ...optional]))).toMatchObject({ errors: [], warnings: [] });
    for (const path of required) {
      const { errors } = convert(
        record(
          dimension,
          required.filter((one) => one !== path),
        ),
      );
      expect(errors).toEqual([
        `case "c" (shape C: dimension, query, context): ${path}: required for dimension ${dimension}`,
      ]);
    }
    for (const path of other) {
      const { evalCase, warnings } = convert(record(dimension, [...required, path]));
      expect(evalCase).not.toBeNull();
      expect(warnings).toEqual([
        `case "c" (shape C: dimension, query, context): ${path}: does not apply to dimension ${dimension}; remove it`,
      ]);
    }
  });

  test('an unknown dimension is refused with what was meant', () => {
    const { errors } = convert({ id: 'c', dimension: 'rag_recal', query: 'q' });
    expect(errors[0]).toContain('(did you mean "rag_recall"?)');
  });
});

describe('shape D', () => {
  test('a rubric case is canonical as it stands', () => {
    const record = { id: 'd', input: '北京天气', rubric: 'city = 北京', min_steps: 1 };
    expect(convert(record).evalCase).toEqual({ ...record, expected: {} });
  });

  test('vague words are warned for at their own line, English and Chinese', () => {
    const { problems, report } = collecting();
    const text =
      'id: d\ninput: x\nrubric: |\n  names the city\n  gives a Reasonable answer\n  语气合理\n  goods are fine';
    convertCase(parseYamlSource(text, 'd.yaml', report)!, report);
    expect(briefly(problems)).toEqual([
      '5:11 case "d" (shape D: input, rubric, min_steps): rubric: "Reasonable" cannot be checked; say what must be there, or how much',
      '6:5 case "d" (shape D: input, rubric, min_steps): rubric: "合理" cannot be checked; say what must be there, or how much',
    ]);
  });
});

test('D2: lint warns where an argument lost its written form', () => {
  const { problems, report } = collecting();
  const text =
    'id: a\ninput: x\ntrials: 03\nexpected:\n  max_tokens: 1_0\n  calls:\n    - tool: f\n      args: {zip: 01234, ver: 1.10, country: NO, flag: yes, n: 5}';
  const source = parseYamlSource(text.replace('  max_tokens: 1_0\n', ''), 'd.yaml', report)!;
  const evalCase = convertCase(source, report);
  expect(evalCase?.expected.calls?.[0]?.args).toEqual({ zip: 1234, ver: 1.1, country: 'NO', flag: 'yes', n: 5 });
  expect(problems.map((problem) => problem.severity)).toEqual(['warning', 'warning']);
  expect(briefly(problems)).toEqual([
    '7:19 case "a": expected.calls[0].args.zip: 01234 is read as a number and loses its written form; write "01234" for text',
    '7:31 case "a": expected.calls[0].args.ver: 1.10 is read as a number and loses its written form; write "1.10" for text',
  ]);
});
