import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { demoModels, listModels } from './demo-models.ts';

/** `npm run demo`: evaluates two example suites for real and says where to look next. */
const root = path.resolve(import.meta.dirname, '..');
const run = (suite: string): { ended: Promise<number>; kill(): void } => {
  console.log(`\n$ npx assay run examples/${suite}/suite.yaml\n`);
  const args = ['run', `examples/${suite}/suite.yaml`, '--trials', '3', '--new'];
  const child = spawn(process.execPath, [path.join(root, 'bin/assay.js'), ...args], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
  return {
    ended: once(child, 'close').then(([code]) => (code as number | null) ?? 130),
    kill: () => void child.kill('SIGKILL'),
  };
};

let env: NodeJS.ProcessEnv = process.env;
const scripted = (process.env['OPENAI_API_KEY'] ?? '') === '' && (process.env['OPENAI_BASE_URL'] ?? '') === '';
if (scripted) {
  console.log(
    'No OPENAI_API_KEY is set: a scripted model answers, over real HTTP. Set one to run the same suites on a real model.\n',
  );
} else {
  const models = await demoModels(process.env, () => listModels(process.env));
  if (typeof models === 'string') {
    console.error(models);
    process.exit(2);
  }
  env = { ...process.env, ...models };
  const { ASSAY_MODEL: agent, ASSAY_JUDGE_MODEL: judge } = models;
  console.log(
    `The suites run on ${agent} of your endpoint, judged by ${judge} (ASSAY_MODEL, ASSAY_JUDGE_MODEL: others).\n`,
  );
}

// A stack that has run before is up in a second: the first suite is loaded meanwhile. A new one may have to build its
// Temporal server first, and says how far it is.
const recorded = path.join(process.env['ASSAY_HOME'] ?? path.join(root, '.assay'), 'stack.json');
const early = existsSync(recorded) ? run('ops') : null;

// Held by a stack in the background of this script, so that the second suite need not start it again.
const [{ ensureStack }, { homeFolder }, { UserError }] = await Promise.all([
  import('../src/local/stack.ts'),
  import('../src/config.ts'),
  import('../src/core/errors.ts'),
]);
const home = homeFolder(process.env, root);
const holding = ensureStack({ home, env: process.env, log: (line) => console.error(line) });
const held = await holding.catch((error: unknown) => {
  early?.kill();
  if (!(error instanceof UserError)) throw error;
  console.error(`${error.message}${error.hint === null ? '' : `\n  → ${error.hint}`}`);
  process.exit(error.exitCode);
});
const codes: number[] = [];
try {
  codes.push(await (early ?? run('ops')).ended);
  // Energy comes last: the next steps below speak of `latest`.
  codes.push(await run('energy').ended);
} finally {
  await held.release();
}

console.log(`
What to try next
  npm run assay -- list                     the evaluations so far
  npm run assay -- show latest TC-016 1     a failed trial, step by step
  npm run assay -- sql summary              the results with SQL (docs/sql.md)
  npm run assay -- baseline set latest      compare later runs with this one
  npm run assay -- up                       Temporal's web page, and schedules
  npm run assay -- init my-suite            a suite of your own
`);
process.exit(Math.max(...codes));
