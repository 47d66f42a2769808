import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_LINE_BYTES, readJsonl } from '../../../src/datasets/readers/read-jsonl.ts';
import { allOf, briefly, collecting, folderWith } from './temporary-folder.ts';

async function read(content: string | Uint8Array): Promise<{ values: unknown[]; lines: number[]; problems: string[] }> {
  const folder = await folderWith({ 'd.jsonl': content });
  const { problems, report } = collecting();
  const sources = await allOf(readJsonl(path.join(folder, 'd.jsonl'), 'd.jsonl', report));
  return {
    values: sources.map((source) => source.value),
    lines: sources.map((source) => source.place([]).line),
    problems: briefly(problems),
  };
}

describe('D3: byte-order mark, line ends, last line, long lines', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('%s, with and without a last line end', async (_name, end) => {
    for (const last of ['', end]) {
      const result = await read(`\ufeff{"n":1}${end}${end}{"n":2}${last}`);
      expect(result).toEqual({ values: [{ n: 1 }, { n: 2 }], lines: [1, 3], problems: [] });
    }
  });

  test('line ends on the border of two chunks', async () => {
    // Chunks are 256 KiB: the CR is the last byte of the first, the LF the first of the second.
    const pad = 256 * 1024 - '{"n":""}'.length - 1;
    const result = await read(`{"n":"${'x'.repeat(pad)}"}\r\n{"n":2}\r\n{"n":3}`);
    expect(result.lines).toEqual([1, 2, 3]);
  });

  test('a 150 MB line is refused with its number; the other lines are read; memory is bounded', async () => {
    const long = Buffer.concat([
      Buffer.from('{"n":1}\n{"n":"'),
      Buffer.alloc(150 * 1024 * 1024, 'x'),
      Buffer.from('"}\n{"n":3}\n'),
    ]);
    const folder = await folderWith({ 'd.jsonl': long });
    const { problems, report } = collecting();
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const watched = setInterval(() => (peak = Math.max(peak, process.memoryUsage().arrayBuffers)), 1);
    const sources = await allOf(readJsonl(path.join(folder, 'd.jsonl'), 'd.jsonl', report));
    clearInterval(watched);
    expect(sources.map((source) => source.value)).toEqual([{ n: 1 }, { n: 3 }]);
    expect(briefly(problems)).toEqual([`2:1 a line of 151 MB; a line has at most ${MAX_LINE_BYTES / 1024 / 1024} MB`]);
    // Chunks that the collector has not taken yet count too; a line that was kept would be 150 MB.
    expect(peak - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('bytes that are not UTF-8 are refused with their line', async () => {
    const result = await read(
      Buffer.concat([Buffer.from('{"n":1}\n{"n":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n{"n":3}')]),
    );
    expect(result.values).toEqual([{ n: 1 }, { n: 3 }]);
    expect(result.problems).toEqual(['2:1 not valid UTF-8; save the file as UTF-8']);
  });
});

test('every bad line is reported with line and column, and the good ones are read', async () => {
  const result = await read('{"n":1}\n{"n":}\n[1,2\n{"a":1,"a":2}\n{"n":5}');
  expect(result.values).toEqual([{ n: 1 }, { n: 5 }]);
  expect(result.problems).toEqual([
    '2:6 not JSON: expected a value, found "}"',
    '3:5 not JSON: expected "," or "]", found the end',
    '4:8 not JSON: duplicate key "a"',
  ]);
});

test('D5: NUL and lone surrogates written as escapes are kept, in keys too', async () => {
  const result = await read('{"k\\u0000":"\\udc00"}');
  expect(result.values).toEqual([{ 'k\u0000': '\udc00' }]);
});

test('a file that is not there', async () => {
  const { problems, report } = collecting();
  expect(await allOf(readJsonl('/nonexistent/x.jsonl', 'x.jsonl', report))).toEqual([]);
  expect(briefly(problems)).toEqual(['0:0 no such file']);
});
