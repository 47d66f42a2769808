import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { indexRecording } from '../../../../src/agents/replay/recording-index.ts';
import { UserError } from '../../../../src/core/errors.ts';
import { folderWith } from '../../datasets/temporary-folder.ts';

async function indexOf(text: string | Uint8Array): Promise<Awaited<ReturnType<typeof indexRecording>>> {
  const cwd = await folderWith({ 'r.jsonl': text });
  return indexRecording(path.join(cwd, 'r.jsonl'), 'r.jsonl');
}

describe('a recording', () => {
  test('is read trial by trial; ids are data, whatever they hold', async () => {
    const ids = ['../../etc/passwd', 'a/b', '数据 🚀', 'CON', 'x'.repeat(300), '\u0000\ud800'];
    const lines = ids.flatMap((id) =>
      [2, 1].map((trial) => JSON.stringify({ caseId: id, trial, n: `${id} ${trial} é` })),
    );
    const index = await indexOf(`\uFEFF${lines.join('\r\n')}\n\n`);
    for (const id of ids) {
      expect(index.trialsOf(id)).toEqual([1, 2]);
      expect(await index.read(id, 2)).toMatchObject({ n: `${id} 2 é` });
    }
    expect(await index.read('a/b', 3)).toBeNull();
    expect(await index.read('__proto__', 1)).toBeNull();
  });

  test('without numbers counts the trials of a case', async () => {
    const index = await indexOf('{"case_id":"a","n":1}\n{"caseId":"b","n":2}\n{"case_id":"a","n":3}');
    expect(index.trialsOf('a')).toEqual([1, 2]);
    expect(await index.read('a', 2)).toMatchObject({ n: 3 });
  });

  test.each([
    ['{"caseId":"a"}\n{"caseId":"a","trial":1}', /r.jsonl:2: trial 1 of case "a" is there twice/],
    ['{"trial":1}', /r.jsonl:1: "caseId"/],
    ['\n[]', /r.jsonl:2: expected an object/],
    ['{"caseId":"a","trial":0}', /whole number from 1/],
    ['{"caseId":', /r.jsonl:1/],
  ])('%j is refused with its line', async (text, message) => {
    await expect(indexOf(text)).rejects.toThrow(message);
    await expect(indexOf(text)).rejects.toThrow(UserError);
  });
});
