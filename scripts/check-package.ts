/**
 * `npm run check:package`: packs Assay, installs the archive into an empty folder (with a space and letters beyond ASCII
 * in its name) as a user would, and runs it there: version, init, lint, run, a module agent, types. Exit code 1 when
 * something is wrong.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findInstalledTemporal } from '../src/local/find-temporal.ts';
import { installTemporal } from '../src/local/install-temporal.ts';
import { accepts } from '../src/local/ports.ts';
import { readStackRecord } from '../src/local/stack-record.ts';
import { contentProblems } from './package-rules.ts';

const ROOT = path.dirname(import.meta.dirname);
const STEP_TIMEOUT_MS = 240_000;
const { values: flags } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });

const problems: string[] = [];
const expect = (right: boolean, problem: string): void => {
  if (!right) problems.push(problem);
};

/** npm and npx are scripts on Windows. */
function launch(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const windows = process.platform === 'win32';
  const begin = performance.now();
  const result = spawnSync(windows ? `${command}.cmd` : command, args, {
    cwd,
    env,
    encoding: 'utf8',
    shell: windows,
    timeout: STEP_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`$ ${command} ${args.join(' ')}   (${seconds} s, exit ${result.status ?? result.signal})`);
  return { status: result.status, stdout: result.stdout, all: `${result.stdout}${result.stderr}` };
}

/** What npm adds to its scripts' environment would reach the commands under test; a user's shell has none of it. */
function userEnvironment(folder: string, temporal: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|OPENAI_|TEMPORAL_|ASSAY_|DATABASE_URL$|NODE_OPTIONS$|INIT_CWD$)/.test(name),
  );
  const own = path.join(ROOT, 'node_modules');
  const search = (process.env['PATH'] ?? '').split(path.delimiter).filter((entry) => !entry.startsWith(own));
  return {
    ...Object.fromEntries(kept),
    PATH: search.join(path.delimiter),
    ASSAY_TEMPORAL_BIN: temporal,
    // An empty cache: a workflow bundle that had to be built would be found here.
    XDG_CACHE_HOME: path.join(folder, 'cache'),
  };
}

function pack(folder: string): string {
  const packed = launch('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], ROOT, process.env);
  if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.all}`);
  // What the build prints comes first.
  const [archive] = JSON.parse(packed.stdout.slice(packed.stdout.search(/^\[/m))) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  console.log(`  ${archive.filename}: ${archive.files.length} files, ${Math.round(archive.size / 1000)} kB packed`);
  problems.push(
    ...contentProblems(
      archive.files.map((file) => file.path),
      archive.unpackedSize,
    ),
  );
  return path.join(folder, archive.filename);
}

function install(archive: string, project: string, env: NodeJS.ProcessEnv): void {
  writeFileSync(path.join(project, 'package.json'), '{ "name": "evals", "private": true, "type": "module" }\n');
  const args = ['i', '--no-fund', '--no-audit', '--prefer-offline', '--loglevel=error'];
  const relative = `./${path.relative(project, archive).split(path.sep).join('/')}`;
  const installed = launch('npm', [...args, relative, 'node@24'], project, env);
  if (installed.status !== 0) throw new Error(`npm i failed:\n${installed.all}`);
  expect(
    !existsSync(path.join(project, 'node_modules/typescript')),
    'TypeScript is installed with the package: it must run without',
  );
}

function npx(project: string, env: NodeJS.ProcessEnv, args: readonly string[], wanted = 0): string {
  const result = launch('npx', ['assay', ...args], project, env);
  expect(
    result.status === wanted,
    `assay ${args.join(' ')}: exit ${result.status}, expected ${wanted}\n${result.all.trimEnd().split('\n').slice(-40).join('\n')}`,
  );
  return result.stdout;
}

/** Runs the commands of the first ten minutes. Node strips no types below node_modules: only compiled code can run. */
function use(project: string, env: NodeJS.ProcessEnv): void {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(npx(project, env, ['--version']).trim() === version, `assay --version does not print ${version}`);
  npx(project, env, ['init', 'demo']);
  npx(project, env, ['lint', 'demo/suite.yaml']);
  const report = npx(project, env, ['run', 'demo/suite.yaml']);
  for (const part of ['PASSED', 'orders', 'case_pass_rate', 'safety_violations']) {
    expect(report.includes(part), `the report of assay run lacks ${JSON.stringify(part)}:\n${report}`);
  }
  expect(!existsSync(path.join(project, 'cache/assay/workflows')), 'the workflow bundle was built: none was shipped');

  const suite = readFileSync(path.join(project, 'demo/suite.yaml'), 'utf8');
  const own = suite.replace(/^agent:\n(?: .*\n)+/m, 'agent: { type: module, path: agent.ts }\n');
  expect(own !== suite, 'demo/suite.yaml has no agent block to replace');
  writeFileSync(path.join(project, 'demo/own.yaml'), own);
  const args = ['run', 'demo/own.yaml', '--filter', 'category=status', '--trials', '1', '--json'];
  const json = JSON.parse(npx(project, env, args, 1) || '{}') as { schema?: string; not_passed?: number };
  expect(json.schema === 'assay.report/1', 'assay run --json does not print a report');
}

function checkTypes(project: string): void {
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', ''];
  const file = path.join(project, 'demo/agent.ts');
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const result = spawnSync(process.execPath, [compiler, ...options, file], { cwd: project, encoding: 'utf8' });
  console.log(`$ tsc ${options.join(' ')} demo/agent.ts   (exit ${result.status})`);
  expect(result.status === 0, `the types of the package do not serve demo/agent.ts:\n${result.stdout}`);
}

async function checkStackGone(project: string): Promise<void> {
  const home = path.join(project, '.assay');
  expect(existsSync(home), `assay run left no ${home}`);
  const { temporal, postgres } = readStackRecord(home, console.log);
  expect(temporal !== null && postgres !== null, 'assay run started no embedded stack');
  for (const [name, server] of Object.entries({ temporal, postgres })) {
    if (server === null) continue;
    const open = await accepts('127.0.0.1', server.port);
    expect(server.process === null && !open, `${name} of the embedded stack still runs after assay run`);
  }
}

const begin = performance.now();
const folder = mkdtempSync(path.join(tmpdir(), 'assay-package-'));
// As root Postgres runs as another user, who must be able to enter.
chmodSync(folder, 0o755);
const project = path.join(folder, 'Bewertung für 评估');
mkdirSync(project);
try {
  const temporal = findInstalledTemporal(process.env) ?? (await installTemporal(process.env, console.log));
  const env = userEnvironment(project, temporal);
  install(pack(folder), project, env);
  use(project, env);
  checkTypes(project);
  await checkStackGone(project);
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
} finally {
  const entry = path.join(project, 'node_modules/assay/bin/assay.js');
  if (problems.length > 0 && existsSync(entry)) {
    spawnSync(process.execPath, [entry, 'up', '--stop'], { cwd: project, stdio: 'ignore' });
  }
  if (flags.keep) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
for (const problem of problems) console.error(`✗ ${problem}`);
const seconds = Math.round((performance.now() - begin) / 1000);
console.log(problems.length === 0 ? `package ok (${seconds} s)` : `${problems.length} problem(s) (${seconds} s)`);
process.exit(problems.length === 0 ? 0 : 1);
