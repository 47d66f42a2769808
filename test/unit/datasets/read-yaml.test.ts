import { describe, expect, test } from 'vitest';
import { parseYamlSource } from '../../../src/datasets/readers/read-yaml.ts';
import type { SourceValue } from '../../../src/datasets/readers/source.ts';
import { briefly, collecting } from './temporary-folder.ts';

function read(text: string): { source: SourceValue | null; problems: string[] } {
  const { problems, report } = collecting();
  const source = parseYamlSource(text, 'f.yaml', report);
  return { source, problems: briefly(problems) };
}

describe('D1: hostile YAML is refused with its line', () => {
  test('an alias bomb', () => {
    const levels = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++) {
      const [before, name] = ['abcdefghi'[i - 1]!, 'abcdefghi'[i]!];
      levels.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
    }
    const started = process.hrtime.bigint();
    const { source, problems } = read(levels.join('\n'));
    expect(source).toBeNull();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('aliases expand to more than');
    expect(Number(process.hrtime.bigint() - started) / 1e9).toBeLessThan(5);
  });

  test('an anchor that contains itself', () => {
    const { source, problems } = read('a: &a [*a]');
    expect(source).toBeNull();
    expect(problems).toHaveLength(1);
  });

  test('deep nesting, block and flow', () => {
    for (const text of [
      `x: 1\ny: ${'['.repeat(100_000)}`,
      `x: 1\n${'- '.repeat(20_000)}z`,
      `${'['.repeat(600)}1${']'.repeat(600)}`,
    ]) {
      const { source, problems } = read(text);
      expect(source).toBeNull();
      expect(problems.length).toBeGreaterThan(0);
    }
    expect(read(`${'['.repeat(600)}1${']'.repeat(600)}`).problems[0]).toContain('nested deeper than 512 levels');
    // The parser ran out of stack once a level: said once, not thousands of times.
    expect(read(`x: 1\ny: ${'['.repeat(5_000)}${']'.repeat(5_000)}`).problems).toEqual([
      expect.stringMatching(/^2:\d+ nested deeper than 512 levels$/),
    ]);
  });

  test.each([
    ['a: 1\nb: !!js/function "x"', '2:4', 'custom tags are not allowed'],
    ['a: 1\nb: !secret x', '2:4', 'custom tags are not allowed'],
    ['a: 1\nb:\n\t- x', '3:1', 'not YAML'],
    ['a: 1\nb: 2\na: 3', '3:1', 'duplicate key'],
    ['a: {x: 1, x: 2}', '1:11', 'duplicate key'],
    ['a: .nan', '1:4', 'not a JSON number'],
    ['a: -.inf', '1:4', 'not a JSON number'],
    ['? [a, b]\n: 1', '1:3', 'a key must be text'],
    ['a: 1\n---\nb: 2', '2:1', 'one YAML document'],
  ])('%j', (text, place, message) => {
    const { source, problems } = read(text);
    expect(source).toBeNull();
    expect(problems[0]).toContain(`${place} `);
    expect(problems[0]).toContain(message);
  });
});

describe('D2: YAML 1.2, no silent change of type', () => {
  test('words stay text', () => {
    const { source } = read(
      'country: NO\nflag: yes\noff: off\non: y\ntime: 12:30:45\ndate: 2024-01-02\nnull_word: Null',
    );
    expect(source?.value).toEqual({
      country: 'NO',
      flag: 'yes',
      off: 'off',
      on: 'y',
      time: '12:30:45',
      date: '2024-01-02',
      null_word: null,
    });
  });

  test('a number that loses its written form is noted', () => {
    const { source } = read('zip: 01234\nver: 1.10\nhex: 0x1F\noct: 0o17\nplus: +5\nn: 42\nf: 1.5\nq: "01234"');
    expect(source?.value).toEqual({ zip: 1234, ver: 1.1, hex: 31, oct: 15, plus: 5, n: 42, f: 1.5, q: '01234' });
    expect(source?.lostForms).toEqual([
      { path: ['zip'], written: '01234' },
      { path: ['ver'], written: '1.10' },
      { path: ['hex'], written: '0x1F' },
      { path: ['oct'], written: '0o17' },
      { path: ['plus'], written: '+5' },
    ]);
  });

  test('numbers beyond a double keep their digits', () => {
    expect(read('a: 9007199254740993\nb: 1e400').source?.value).toEqual({
      a: { $bignum: '9007199254740993' },
      b: { $bignum: '1e400' },
    });
  });

  test('keys are text: NO, 1.10, true', () => {
    expect(read('{NO: 1, 1.10: 2, true: 3, 01: 4}').source?.value).toEqual({ NO: 1, '1.10': 2, true: 3, '01': 4 });
  });

  test('__proto__ is an ordinary key', () => {
    const value = read('__proto__: {polluted: 1}').source?.value as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('D3: line ends', () => {
  test.each([
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR'],
  ])('%j: values and places', (end) => {
    const { source } = read(['a: 1', 'b:', '  - x', '  - deep: "v"'].join(end));
    expect(source?.value).toEqual({ a: 1, b: ['x', { deep: 'v' }] });
    expect(source?.place(['b', 1, 'deep'])).toEqual({ file: 'f.yaml', line: 4, column: 11 });
    expect(source?.place(['b', 1, 'deep'], 'key')).toEqual({ file: 'f.yaml', line: 4, column: 5 });
  });

  test('D5: NUL and lone surrogates written as escapes are kept', () => {
    expect(read('a: "x\\0y\\ud800z"').source?.value).toEqual({ a: 'x\u0000y\ud800z' });
  });
});

test('places: a missing part is shown at its parent; a text inside a block at its own line', () => {
  const { source } = read('- id: a\n  rubric: |\n    first line\n    a good answer\n- id: b');
  expect(source?.place([0, 'nope', 'deeper'])).toEqual({ file: 'f.yaml', line: 1, column: 3 });
  expect(source?.placeOfText([0, 'rubric'], 'good')).toEqual({ file: 'f.yaml', line: 4, column: 7 });
  expect(source?.place([1, 'id'])).toEqual({ file: 'f.yaml', line: 5, column: 7 });
});

test('aliases are followed, for values and places', () => {
  const { source } = read('base: &b {x: 1}\nuse: *b');
  expect(source?.value).toEqual({ base: { x: 1 }, use: { x: 1 } });
  expect(source?.place(['use', 'x'])).toEqual({ file: 'f.yaml', line: 1, column: 14 });
});
