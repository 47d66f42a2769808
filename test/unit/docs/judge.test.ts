import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { JUDGE_DIMENSIONS } from '../../../src/core/suite.ts';
import type { JudgeDimension } from '../../../src/core/suite.ts';
import { DIMENSIONS } from '../../../src/judge/dimensions/dimensions.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/judge.md'), 'utf8');

/** Cells of the rows of the table under a heading, by the dimension in the first. */
function table(heading: string): Map<string, string[]> {
  const section = page.slice(page.indexOf(`${heading}\n`)).split('\n');
  const start = section.findIndex((line) => line.startsWith('|'));
  const rows = new Map<string, string[]>();
  for (const line of section.slice(start)) {
    if (!line.startsWith('|')) break;
    const [name = '', ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (name.startsWith('`')) rows.set(name.replaceAll('`', ''), cells);
  }
  return rows;
}

/** The threshold as the page writes it, as a value in [0,1]. */
function thresholdOf(name: JudgeDimension, cell: string): number {
  if (cell === 'success') return 1;
  const number = Number(cell.replace('≥ ', ''));
  return DIMENSIONS[name].scale === 'likert' ? (number - 1) / 4 : number;
}

describe('docs/judge.md', () => {
  const verdicts = table('## Dimensions');
  const shown = table('### What each is judged from');

  test('has every dimension in both tables, and no other', () => {
    expect([...verdicts.keys()]).toEqual([...JUDGE_DIMENSIONS]);
    expect([...shown.keys()]).toEqual([...JUDGE_DIMENSIONS]);
  });

  test.each(JUDGE_DIMENSIONS)('%s: fields, threshold and variables are those of the code', (name) => {
    const { passesAt, replySchema, variables } = DIMENSIONS[name];
    const [gives = '', , passes = ''] = verdicts.get(name) ?? [];
    const fields = [...gives.matchAll(/`(\w+)`/g)].map(([, field]) => field);
    expect(fields).toEqual(replySchema['required']);
    expect(thresholdOf(name, passes)).toBeCloseTo(passesAt, 12);
    const listed = (shown.get(name)?.[1] ?? '').split(', ').map((variable) => ({
      name: variable.replaceAll('*', ''),
      required: variable.startsWith('**'),
    }));
    expect(listed).toEqual(variables.map((variable) => ({ name: variable.name, required: variable.required })));
  });
});
