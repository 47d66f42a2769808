import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { installedPackage } from '../core/installed-package.ts';
import type { CommandContext } from './context.ts';
import { writeNewFiles } from './write-new-files.ts';

/** Flags of `assay init`, as commander hands them over. */
export interface InitFlags {
  force?: boolean;
  json?: boolean;
}

/** Files of a new project, and the templates of `examples/init/` they are made from. */
const TEMPLATES: Record<string, { template: string; about: string }> = {
  'suite.yaml': { template: 'suite.yaml', about: 'what is evaluated, how it is scored, when it passes' },
  'cases.yaml': { template: 'cases.yaml', about: 'the cases' },
  'fixtures.yaml': { template: 'fixtures.yaml', about: 'what the mock tools answer' },
  'model.yaml': { template: 'model.yaml', about: 'the offline model' },
  'agent.ts': { template: 'agent.ts', about: 'an agent of your own, to start from' },
  '.github/workflows/assay.yml': { template: 'github-workflow.yml', about: 'the evaluation in CI' },
};

/**
 * Writes the files of a first project.
 * @throws UserError when one of them is there already (without --force), or the folder cannot be written
 */
export async function initProject(context: CommandContext, folder: string, flags: InitFlags): Promise<void> {
  const templates = path.join(installedPackage().root, 'examples', 'init');
  const files = new Map<string, string>();
  for (const [name, { template }] of Object.entries(TEMPLATES)) {
    files.set(name, await readFile(path.join(templates, template), 'utf8'));
  }
  const target = path.resolve(context.cwd, folder);
  await writeNewFiles(target, files, { force: flags.force === true, shown: folder === '.' ? 'This folder' : folder });
  const shown = (name: string): string => path.join(folder, name);
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ folder, files: [...files.keys()].map(shown) })}\n`);
    return;
  }
  for (const [name, { about }] of Object.entries(TEMPLATES)) context.stdout(`  ${shown(name).padEnd(32)} ${about}\n`);
  const suite = shown('suite.yaml');
  context.stdout(`\nNext: assay run ${suite}   (offline; assay lint ${suite} checks it)\n`);
  context.stdout('On a real model: set OPENAI_API_KEY (and OPENAI_BASE_URL), ASSAY_MODEL and ASSAY_JUDGE_MODEL.\n');
}
