import { describe, expect, test } from 'vitest';
import { readCsv } from '../../../src/datasets/readers/read-csv.ts';
import type { SourceValue } from '../../../src/datasets/readers/source.ts';
import { briefly, collecting } from './temporary-folder.ts';

function read(text: string): { sources: SourceValue[]; values: unknown[]; problems: string[] } {
  const { problems, report } = collecting();
  const sources = [...readCsv(text, 'd.csv', report)];
  return { sources, values: sources.map((source) => source.value), problems: briefly(problems) };
}

describe('D7: CSV', () => {
  test('quoted line ends, quotes and delimiters; places count real lines', () => {
    const { sources, values } = read('id,input\na,"one\ntwo, ""three"""\nb,plain\n');
    expect(values).toEqual([
      { id: 'a', input: 'one\ntwo, "three"' },
      { id: 'b', input: 'plain' },
    ]);
    expect(sources[0]?.place(['input'])).toEqual({ file: 'd.csv', line: 2, column: 3 });
    expect(sources[1]?.place(['input'])).toEqual({ file: 'd.csv', line: 4, column: 3 });
    expect(sources[1]?.place(['input'], 'key')).toEqual({ file: 'd.csv', line: 1, column: 4 });
  });

  test.each([
    [',', 'comma'],
    [';', 'semicolon'],
    ['\t', 'tab'],
  ])('%j is detected', (delimiter) => {
    const text = [
      ['id', 'input', 'tags'],
      ['1', '"a, b; c"', 'x|y'],
    ]
      .map((row) => row.join(delimiter))
      .join('\r\n');
    expect(read(text)).toMatchObject({ values: [{ id: '1', input: 'a, b; c', tags: ['x', 'y'] }], problems: [] });
  });

  test('CR alone ends a row', () => {
    expect(read('id,input\ra,x\rb,y').values).toEqual([
      { id: 'a', input: 'x' },
      { id: 'b', input: 'y' },
    ]);
  });

  test('JSON in cells, quoted as CSV wants it', () => {
    const { values } = read(
      'id,expected.calls,expected.answer,metadata\nx,"[{""tool"":""f"",""args"":{""n"":1}}]",0042,"{""k"":null}"',
    );
    expect(values).toEqual([
      { id: 'x', expected: { calls: [{ tool: 'f', args: { n: 1 } }], answer: '0042' }, metadata: { k: null } },
    ]);
  });

  test('unquoted JSON without a delimiter inside loads; with one it says how to quote', () => {
    expect(read('id,metadata\nx,{"k":1}').values).toEqual([{ id: 'x', metadata: { k: 1 } }]);
    const { values, problems } = read('id,metadata,input\nx,{"k":1,"l":2},hello\ny,,fine');
    expect(problems).toEqual([
      '2:10 4 cells, the header has 3; a cell that holds "," or JSON is quoted: "{""tool"": ""x""}"',
    ]);
    expect(values).toEqual([{ id: 'y', input: 'fine' }]);
  });

  test('missing cells, broken JSON, a number that is none: line and column of the cell', () => {
    const { problems } = read('id,trials,metadata\na,1\nb,many,\nc,,"{""k"":"');
    expect(problems).toEqual([
      '2:3 2 cells, the header has 3',
      '3:3 column "trials": expected a number, got "many"',
      '4:4 column "metadata": not JSON: expected a value, found the end (character 6 of the cell)',
    ]);
  });

  test('a structured column without JSON says what to write', () => {
    expect(read('id,expected.calls,metadata\na,refund,x').problems).toEqual([
      '2:3 column "expected.calls": write JSON in the cell, such as [{"tool": "refund", "args": {"order": 88}}]; got "refund"',
      '2:10 column "metadata": write JSON in the cell; got "x"',
    ]);
  });

  test('headers: no id, a name twice, no name', () => {
    expect(read('input,tags\nx,y').problems).toEqual(['1:1 no column "id"; the columns are input, tags']);
    expect(read('id,input,input\n1,2,3').problems).toEqual(['1:10 column "input" is there twice']);
    expect(read('id,,input\n1,2,3').problems).toEqual(['1:4 column 2 has no name']);
  });

  test('a quote that is never closed names its line', () => {
    const { values, problems } = read('id,input\na,x\nb,"open\nc,y\n');
    expect(values).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^[34]:1 not CSV: Quote Not Closed/);
  });

  test('0 rows give nothing', () => {
    expect(read('id,input\n')).toMatchObject({ values: [], problems: [] });
    expect(read('')).toMatchObject({ values: [], problems: [] });
  });

  test('ids and text stay as written: 007, 1e5, true', () => {
    expect(read('id,input\n007,1e5\ntrue,  padded ').values).toEqual([
      { id: '007', input: '1e5' },
      { id: 'true', input: '  padded ' },
    ]);
  });

  test('rows with equal text keep their own places', () => {
    const { sources } = read('id,input\na,x\na,x\na,x');
    expect(sources.map((source) => source.place(['id']).line)).toEqual([2, 3, 4]);
  });
});
