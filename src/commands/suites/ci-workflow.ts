import { existsSync } from 'node:fs';
import path from 'node:path';

/** Where the CI workflow of a new project goes, and what it says. */
interface CiWorkflow {
  /** Absolute path. */
  file: string;
  content: string;
  /** What the user must still do before GitHub runs it. */
  notes: string[];
}

/**
 * Fits the workflow template to the place of a suite: GitHub reads workflows at the root of a repository only, and npm
 * works where package.json is.
 * @param folder absolute folder of suite.yaml
 * @param template a workflow that runs `npm ci` and names `suite.yaml`
 */
export function ciWorkflow(folder: string, template: string): CiWorkflow {
  const repository = nearestWith('.git', folder, null);
  const project = nearestWith('package.json', folder, repository);
  const root = repository ?? project ?? folder;
  const below = slashes(path.relative(root, folder));
  const suffix = below.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  const work = slashes(path.relative(root, project ?? root));
  const suite = shellWord(path.posix.join(slashes(path.relative(project ?? root, folder)), 'suite.yaml'));
  const install = project === null || existsSync(path.join(project, 'package-lock.json')) ? 'npm ci' : 'npm install';
  const content = template
    .replace(
      'name: agent evaluation',
      below === '' ? 'name: agent evaluation' : `name: ${text(`agent evaluation: ${below}`)}`,
    )
    .replace('timeout-minutes: 30\n', (line) =>
      work === '' ? line : `${line}    defaults:\n      run:\n        working-directory: ${text(work)}\n`,
    )
    .replace('run: npm ci', `run: ${install}`)
    .replaceAll(/run: (npx assay \w+) suite\.yaml/g, (_, command: string) => `run: ${text(`${command} ${suite}`)}`);
  return {
    file: path.join(root, '.github', 'workflows', suffix === '' ? 'assay.yml' : `assay-${suffix}.yml`),
    content,
    notes: [
      ...(repository === null
        ? ['This folder is in no Git repository: GitHub reads .github/workflows at the root of one only.']
        : []),
      ...(project === null
        ? ['There is no package.json here: the workflow needs one that names assay (npm init -y && npm i -D assay).']
        : []),
    ],
  };
}

/** The folder, or the nearest above it, that holds `name`; never above `top`. */
function nearestWith(name: string, folder: string, top: string | null): string | null {
  for (let here = folder; ; here = path.dirname(here)) {
    if (existsSync(path.join(here, name))) return here;
    if (here === top || here === path.dirname(here)) return null;
  }
}

function slashes(file: string): string {
  return file.split(path.sep).join('/');
}

function shellWord(word: string): string {
  return /^[\w./@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A YAML scalar: plain where that is safe, else in double quotes. */
function text(value: string): string {
  return /^[A-Za-z][\w ./@+-]*$/.test(value) ? value : JSON.stringify(value);
}
