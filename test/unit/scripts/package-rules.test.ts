import { expect, test } from 'vitest';
import { contentProblems } from '../../../scripts/package-rules.ts';

const NEEDED = contentProblems([], 0).map((problem) => problem.replace('the package lacks ', ''));

test('a whole package has no problems; each needed file is missed', () => {
  expect(NEEDED).toContain('dist/workflow-bundle.js');
  expect(contentProblems(NEEDED, 4_000_000)).toEqual([]);
});

test.each([
  ['test/unit/x.js', 'do not belong there'],
  ['dist/src/x.test.js', 'do not belong there'],
  ['examples/energy/.assay/stack.json', 'do not belong there'],
  ['src/client.ts', 'TypeScript source'],
  ['dist/migrations/0003-more.mts', 'TypeScript source'],
  ['.env', 'must not be published'],
  ['.npmrc', 'must not be published'],
  ['docs/server.pem', 'must not be published'],
])('%s is refused', (file, why) => {
  expect(contentProblems([...NEEDED, file], 0)).toEqual([expect.stringContaining(why)]);
});

test('declarations and the examples, which users copy, are TypeScript that belongs there', () => {
  expect(contentProblems([...NEEDED, 'dist/src/core/case.d.ts', 'examples/init/agent.ts'], 0)).toEqual([]);
});

test('a package that grew beyond all measure is refused', () => {
  expect(contentProblems(NEEDED, 50_000_000)).toEqual([expect.stringContaining('50000000 bytes')]);
});
