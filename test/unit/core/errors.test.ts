import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerCalibrate } from '../../../src/commands/results/calibrate.ts';
import { registerImport } from '../../../src/commands/suites/import.ts';
import { InputError, type Problem } from '../../../src/core/errors.ts';
import { runCommand } from '../commands/command-harness.ts';
import { folderWith } from '../datasets/temporary-folder.ts';

const problems = (count: number, severity: Problem['severity'] = 'error'): Problem[] =>
  Array.from({ length: count }, (_, at) => ({ severity, file: 'a.jsonl', line: at + 1, column: 1, message: 'no' }));

describe('InputError', () => {
  test('names a hundred problems, and how many more there are', () => {
    const lines = (all: Problem[]): string[] => new InputError(all).message.split('\n');
    expect(lines(problems(100))).toHaveLength(100);
    expect(lines(problems(101)).slice(99)).toEqual(['a.jsonl:100:1: error: no', 'and 1 more problem']);
    expect(lines(problems(350)).at(-1)).toBe('and 250 more problems');
    expect(new InputError(problems(350)).problems).toHaveLength(350);
  });

  test('what is left out are warnings first', () => {
    const message = new InputError([...problems(200, 'warning'), ...problems(2)]).message;
    expect(message).toBe('a.jsonl:1:1: error: no\na.jsonl:2:1: error: no\nand 200 more problems');
  });
});

const folder = await folderWith({});
writeFileSync(path.join(folder, 'binary.jsonl'), Buffer.from('\xff\xfe\n'.repeat(3_000), 'latin1'));

writeFileSync(path.join(folder, 'other.jsonl'), '{"x": 1, "label": 3}\n'.repeat(3_000));
writeFileSync(path.join(folder, 'good.jsonl'), '{"id": "a", "question": [], "function": []}\n');

test.each([
  ['calibrate', '--labels', 'binary.jsonl'],
  ['calibrate', '--labels', 'other.jsonl'],
  ['import', 'bfcl', '--out', 'out', '--questions', 'binary.jsonl'],
  ['import', 'bfcl', '--out', 'out', '--questions', 'other.jsonl'],
  ['import', 'bfcl', '--out', 'out', '--questions', 'good.jsonl', '--answers', 'other.jsonl'],
  ['import', 'trajectories', '--from', 'openai', '--out', 'out.jsonl', 'binary.jsonl'],
  ['import', 'trajectories', '--from', 'openai', '--out', 'out.jsonl', 'other.jsonl'],
])('a file of another form fills no terminal: assay %s %s %s %s %s %s', async (...args) => {
  const register = args[0] === 'calibrate' ? registerCalibrate : registerImport;
  const error = await runCommand(register, args, { cwd: folder }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(InputError);
  const shown = (error as InputError).message.split('\n');
  expect(shown.at(-1)).toMatch(/^and \d{4} more problems$/);
  expect(shown).toHaveLength(101);
});
