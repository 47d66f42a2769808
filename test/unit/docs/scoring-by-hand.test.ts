import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scoreFiles } from '../../../src/commands/suites/score-files.ts';
import { ownScoreNames } from '../../../src/core/scorer-names.ts';
import type { Score } from '../../../src/core/score.ts';

/** One worked trajectory of docs/scoring.md: its two blocks, and the table a reader is told to get. */
interface Worked {
  title: string;
  evalCase: string;
  record: string;
  rows: { scorer: string; value: string; passed: string }[];
  verdict: string;
}

const page = await readFile(path.resolve(import.meta.dirname, '../../../docs/scoring.md'), 'utf8');

function workedOf(text: string): Worked[] {
  const section = text.split('\n## ').find((part) => part.startsWith('Two trajectories by hand')) ?? '';
  return section
    .split('\n### ')
    .slice(1)
    .map((part) => {
      const [evalCase = '', record = ''] = [...part.matchAll(/```json\n([^]*?)```/g)].map((match) => match[1] ?? '');
      const rows = [...part.matchAll(/^\| `(\w+)` +\|.*\| +(\S+) +\| +(\S+) +\|$/gm)].map(
        ([, scorer = '', value = '', passed = '']) => ({ scorer, value, passed }),
      );
      const verdict = /`"passed": (\w+)`/.exec(part)?.[1] ?? '';
      return { title: part.split('\n')[0] ?? '', evalCase, record, rows, verdict };
    });
}

/** As the page prints values: three decimals at most. */
function printed(value: number | null, like: string): string {
  if (value === null) return 'null';
  return value.toFixed(like.split('.')[1]?.length ?? 0);
}

const PASSED = new Map<boolean | null, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, '–'],
]);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assay-by-hand-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const worked = workedOf(page);

test('every score has its place on the page', () => {
  const tables = page.split('\n## Two trajectories by hand')[0] ?? '';
  expect(ownScoreNames().filter((name) => !tables.includes(`\`${name}\``) && !tables.includes(`\`${name}:`))).toEqual(
    [],
  );
});

test('the page works two trajectories', () => {
  expect(worked.map(({ title }) => title)).toHaveLength(2);
});

describe.each(worked)('$title', ({ evalCase, record, rows, verdict }) => {
  let line: { passed: boolean | null; scores: Score[] };

  beforeAll(async () => {
    const oneLine = (json: string): string => JSON.stringify(JSON.parse(json));
    await writeFile(path.join(folder, 'cases.jsonl'), oneLine(evalCase));
    await writeFile(path.join(folder, 'made.jsonl'), oneLine(record));
    let out = '';
    await scoreFiles(
      { env: {}, stdout: (text) => (out += text), stderr: () => undefined, cwd: folder, isTty: false },
      { cases: 'cases.jsonl', trajectories: 'made.jsonl' },
    );
    line = JSON.parse(out) as typeof line;
  });

  test('what is computed by hand is what Assay prints, and nothing else is printed', () => {
    const byHand = rows.toSorted((a, b) => (a.scorer < b.scorer ? -1 : 1));
    const got = line.scores
      .map(({ scorer, value, passed }) => ({
        scorer,
        value: printed(value, rows.find((row) => row.scorer === scorer)?.value ?? '0.000'),
        passed: PASSED.get(passed),
      }))
      .toSorted((a, b) => (a.scorer < b.scorer ? -1 : 1));
    expect(rows.length).toBeGreaterThan(10);
    expect(got).toEqual(byHand);
    expect(String(line.passed)).toBe(verdict);
  });

  test('values written with fewer than three decimals are exact', () => {
    for (const { scorer, value } of rows) {
      if (value === 'null' || (value.split('.')[1]?.length ?? 0) >= 3) continue;
      expect(line.scores.find((score) => score.scorer === scorer)?.value, scorer).toBeCloseTo(Number(value), 12);
    }
  });
});
