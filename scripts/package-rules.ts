/** What the package must hold: without these it does not run, or may not be passed on. */
const NEEDED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'bin/assay.js',
  'dist/src/client.js',
  'dist/src/index.js',
  'dist/src/index.d.ts',
  'dist/src/agents/module/module-child.js',
  'dist/src/commands/suites/score-thread.js',
  'dist/workflow-bundle.js',
  'dist/migrations/0001-evaluations.js',
  'prompts/en/task_completion.txt',
  'prompts/zh/task_completion.txt',
  'prompts/en/pairwise.txt',
  'examples/agents/function/agent.ts',
  'examples/custom-scorer/citations.ts',
  'examples/init/suite.yaml',
  'examples/init/github-workflow.yml',
  'examples/energy/suite.yaml',
  'docs/install.md',
  'docs/decisions/README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
];

/** Bytes of the unpacked package; twice what it was when this was written. Beyond it something slipped in. */
const LARGEST = 8_000_000;

/**
 * What is wrong with the content of a package.
 * @param files paths inside the package, with `/`
 * @param unpackedBytes their size together
 */
export function contentProblems(files: readonly string[], unpackedBytes: number): string[] {
  const problems = NEEDED.filter((file) => !files.includes(file)).map((file) => `the package lacks ${file}`);
  for (const file of files) {
    if (/(^|\/)(test|bench|node_modules|\.assay|\.ci)\//.test(file) || /\.test\./.test(file)) {
      problems.push(`the package holds ${file}: tests and working folders do not belong there`);
    } else if (/\.[cm]?tsx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file) && !file.startsWith('examples/')) {
      problems.push(`the package holds TypeScript source: ${file}`);
    } else if (/(^|\/)\.(env|npmrc)|\.(pem|key|tgz|log|map)$/.test(file)) {
      problems.push(`the package holds ${file}, which must not be published`);
    }
  }
  if (unpackedBytes > LARGEST) {
    problems.push(`the package unpacks to ${unpackedBytes} bytes, more than ${LARGEST}`);
  }
  return problems;
}
