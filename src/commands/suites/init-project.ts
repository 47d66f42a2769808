import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { installedPackage } from '../../core/installed-package.ts';
import { ciWorkflow } from './ci-workflow.ts';
import type { CommandContext } from '../context.ts';
import { writeNewFiles } from './write-new-files.ts';

/** Flags of `assay init`, as commander hands them over. */
export interface InitFlags {
  force?: boolean;
  json?: boolean;
}

/** Files of a new project, and the templates of `examples/init/` they are made from. */
const TEMPLATES: Record<string, string> = {
  'suite.yaml': 'what is evaluated, how it is scored, when it passes',
  'cases.yaml': 'the cases',
  'fixtures.yaml': 'what the mock tools answer',
  'model.yaml': 'the offline model',
  'agent.ts': 'an agent of your own, to start from',
};

/**
 * Writes the files of a first project, and a CI workflow where GitHub reads it.
 * @throws UserError when one of them is there already (without --force), or the folder cannot be written
 */
export async function initProject(context: CommandContext, folder: string, flags: InitFlags): Promise<void> {
  const templates = path.join(installedPackage().root, 'examples', 'init');
  const target = path.resolve(context.cwd, folder);
  const files = new Map<string, string>();
  for (const name of Object.keys(TEMPLATES)) files.set(name, await readFile(path.join(templates, name), 'utf8'));
  const workflow = ciWorkflow(target, await readFile(path.join(templates, 'github-workflow.yml'), 'utf8'));
  files.set(path.relative(target, workflow.file), workflow.content);
  await writeNewFiles(target, files, { force: flags.force === true, shown: folder === '.' ? 'This folder' : folder });
  const shown = (name: string): string => path.join(folder, name);
  const written = [...files.keys()].map(shown);
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ folder, files: written, notes: workflow.notes })}\n`);
    return;
  }
  const widest = Math.max(...written.map((name) => name.length));
  for (const name of files.keys()) {
    context.stdout(`  ${shown(name).padEnd(widest)}  ${TEMPLATES[name] ?? 'the evaluation in CI'}\n`);
  }
  for (const note of workflow.notes) context.stdout(`\n${note}\n`);
  const suite = shown('suite.yaml');
  context.stdout(`\nNext: assay run ${suite}   (offline; assay lint ${suite} checks it)\n`);
  context.stdout('On a real model: set OPENAI_API_KEY (and OPENAI_BASE_URL), ASSAY_MODEL and ASSAY_JUDGE_MODEL.\n');
}
