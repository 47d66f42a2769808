/**
 * Checks docker-compose.yml without a container engine: `docker compose config` where that plugin is, else compose-go
 * (the library behind it), built with Go into the cache. Then rules of our own. Exit code 1 when something is wrong.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../src/core/cache-folder.ts';
import { executable, findOnPath } from '../src/local/find-temporal.ts';
import { goInstall } from '../src/local/install-temporal.ts';
import { composeProblems, fillRequired } from './compose-rules.ts';

const COMPOSE_GO_VERSION = 'v2.16.2';
const ROOT = dirname(import.meta.dirname);
const FILE = join(ROOT, 'docker-compose.yml');
const REQUIRED = ['POSTGRES_PASSWORD', 'TEMPORAL_DB_PASSWORD', 'ASSAY_DB_PASSWORD'];

interface Outcome {
  status: number | null;
  output: string;
  error: string;
}
/** Reads the docker-compose.yml in this folder, without any variables set. */
type Loader = (folder: string) => Outcome;

async function findLoader(): Promise<{ name: string; load: Loader }> {
  if (spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0) {
    const load: Loader = (folder) => run('docker', ['compose', 'config', '--format', 'json'], folder);
    return { name: 'docker compose config', load };
  }
  const folder = join(cacheFolder(process.env), 'compose-go', COMPOSE_GO_VERSION);
  const binary = join(folder, executable('cmd'));
  if (!existsSync(binary)) {
    const go = findOnPath('go', process.env);
    if (go === null)
      throw new Error('neither `docker compose` nor Go is on this machine: one of them is needed to read the file');
    mkdirSync(folder, { recursive: true });
    console.log(`building compose-go ${COMPOSE_GO_VERSION} (half a minute, once)`);
    await goInstall(go, `github.com/compose-spec/compose-go/v2/cmd@${COMPOSE_GO_VERSION}`, folder, process.env);
  }
  return {
    name: `compose-go ${COMPOSE_GO_VERSION}`,
    load: (folder) => run(binary, ['-format', 'json', 'docker-compose.yml'], folder),
  };
}

function run(command: string, args: string[], cwd: string): Outcome {
  // Nothing of our own environment: a developer's POSTGRES_PASSWORD must not hide a missing one.
  const { PATH = '', HOME = '' } = process.env;
  const result = spawnSync(command, args, { encoding: 'utf8', cwd, env: { PATH, HOME }, timeout: 60_000 });
  return { status: result.status, output: result.stdout, error: result.stderr.trim() };
}

/**
 * Loads a copy of the file in which these variables are filled in: compose-go's command interpolates without the
 * environment. Relative paths come out relative to the copy's folder and are put right.
 */
function loadWith(load: Loader, variables: readonly string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compose-'));
  try {
    writeFileSync(join(folder, 'docker-compose.yml'), fillRequired(readFileSync(FILE, 'utf8'), variables));
    const outcome = load(folder);
    return { ...outcome, output: outcome.output.replaceAll(folder, ROOT) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function check(): Promise<string[]> {
  const { name, load } = await findLoader();
  console.log(`reading docker-compose.yml with ${name}`);
  const complete = loadWith(load, REQUIRED);
  if (complete.status !== 0) return [`not a valid compose file: ${complete.error}`];
  const problems = composeProblems(JSON.parse(complete.output), existsSync);
  for (const variable of REQUIRED) {
    const outcome = loadWith(
      load,
      REQUIRED.filter((other) => other !== variable),
    );
    if (outcome.status === 0) problems.push(`starts without ${variable}: it must be required`);
    else if (!outcome.error.includes(variable))
      problems.push(`without ${variable} the error does not name it: ${outcome.error}`);
  }
  return problems;
}

const problems = await check();
for (const problem of problems) console.error(`docker-compose.yml: ${problem}`);
console.log(problems.length === 0 ? 'docker-compose.yml is in order' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
