import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** `npm test` and `npm run test:stack`: runs the vitest projects one after the other and counts over all of them. */
const root = path.resolve(import.meta.dirname, '..');
const SUITES: Record<string, string[][]> = {
  all: [['unit'], ['integration', 'e2e']],
  stack: [['stack']],
};

interface Report {
  numPassedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    /** Of the file itself, when it did not load; empty otherwise. */
    message: string;
    status: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

/** What failed, a line or two each: file, test and the beginning of the message. */
function failures(report: Report): string[] {
  const lines: string[] = [];
  const add = (file: string, name: string, message: string | undefined) =>
    lines.push(
      `${path.relative(root, file)}${name}\n    ${(message ?? '').trim().split('\n').slice(0, 6).join('\n    ')}`,
    );
  for (const file of report.testResults) {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    for (const test of failed) add(file.name, ` > ${test.fullName}`, test.failureMessages?.[0]);
    if (file.status === 'failed' && failed.length === 0) add(file.name, '', file.message);
  }
  return lines;
}

const named = SUITES[process.argv[2] ?? 'all'];
const suites = named ?? SUITES['all'] ?? [];
/** What else was said goes to vitest, `npm test -- test/unit/core`: not every project need have a file of that name. */
const args = process.argv.slice(named === undefined ? 2 : 3);
if (args.length > 0) args.push('--passWithNoTests');
// On a new machine servers are built for minutes: beside the tests that need none.
const followed = process.env['ASSAY_TEST_STACK_FOLLOWS'] === 'true' ? ['--production'] : [];
spawn(process.execPath, [path.join(root, 'scripts/install-servers.ts'), ...followed], { stdio: 'inherit' });
const folder = mkdtempSync(path.join(tmpdir(), 'assay-tally-'));
const total = { passed: 0, failed: 0, skipped: 0, failures: [] as string[] };
for (const [index, projects] of suites.entries()) {
  const output = path.join(folder, `${index}.json`);
  const startedAt = Date.now();
  console.log(`\n--- ${projects.join(' and ')} tests ---`);
  const run = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...projects.flatMap((project) => ['--project', project]),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${output}`,
      ...args,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  const report = existsSync(output) ? (JSON.parse(readFileSync(output, 'utf8')) as Report) : null;
  total.passed += report?.numPassedTests ?? 0;
  total.skipped += report?.numPendingTests ?? 0;
  const failed = report === null ? [] : failures(report);
  // A run that ended without a report has no failed test, nor has one whose tests passed with an unhandled error.
  if (run.status !== 0 && failed.length === 0)
    failed.push(`${projects.join(' and ')}: vitest ended with ${run.status ?? run.signal}`);
  total.failed += failed.length;
  total.failures.push(...failed);
  console.log(`--- ${projects.join(' and ')}: ${((Date.now() - startedAt) / 1000).toFixed(0)} s ---`);
}
rmSync(folder, { recursive: true, force: true });
const tally = process.env['ASSAY_TEST_TALLY'];
if (tally !== undefined && tally !== '') appendFileSync(tally, `${JSON.stringify(total)}\n`);
for (const failure of total.failures) console.log(`\nfailed: ${failure}`);
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
