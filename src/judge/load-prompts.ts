import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '../core/errors.ts';
import { installedPackage } from '../core/installed-package.ts';
import { DIMENSIONS } from './dimensions/dimensions.ts';
import { PAIRWISE, PAIRWISE_VARIABLES } from './pairwise.ts';
import { parsePrompt } from './prompt.ts';
import type { Prompt, PromptSet } from './prompt.ts';

const NONE = { en: '(none given)', zh: '（无）' } as const;
const DATA_RULE_FILE = 'data-rule.txt';
const PAIRWISE_PROMPT = { name: PAIRWISE, variables: PAIRWISE_VARIABLES };

/**
 * Reads the judge's prompts.
 * @param directory absolute folder with prompts of the user's own (`<dimension>.txt`); what it lacks comes from the
 * shipped set. null = the shipped set alone.
 * @throws UserError for a folder that cannot be read, a `.txt` file that is no dimension, or a faulty prompt
 */
export async function loadPrompts(directory: string | null, language: 'en' | 'zh'): Promise<PromptSet> {
  const shipped = path.join(installedPackage().root, 'prompts', language);
  const own = directory === null ? new Set<string>() : await ownPrompts(directory);
  const dataRule = await readFile(path.join(shipped, DATA_RULE_FILE), 'utf8');
  const prompts = await Promise.all(
    [...Object.values(DIMENSIONS), PAIRWISE_PROMPT].map(async (dimension): Promise<[string, Prompt]> => {
      const folder = directory !== null && own.has(dimension.name) ? directory : shipped;
      const file = path.join(folder, `${dimension.name}.txt`);
      const text = await readFile(file, 'utf8');
      const { name, variables } = dimension;
      return [name, parsePrompt({ name, file, text, dataRule, variables })];
    }),
  );
  return { language, byName: new Map(prompts), none: NONE[language] };
}

async function ownPrompts(directory: string): Promise<Set<string>> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    throw new UserError(`The prompt folder ${directory} cannot be read: ${messageOf(error)}`, {
      hint: 'judge.prompts is relative to the suite file; leave it out to use the shipped prompts.',
      cause: error,
    });
  }
  const own = names.filter((name) => name.endsWith('.txt')).map((name) => name.slice(0, -'.txt'.length));
  const unknown = own.find((name) => !Object.hasOwn(DIMENSIONS, name) && name !== PAIRWISE);
  if (unknown !== undefined) {
    throw new UserError(`${path.join(directory, `${unknown}.txt`)}: no judge dimension has this name`, {
      hint: `Prompt files are named after dimensions: ${Object.keys(DIMENSIONS).join(', ')}; ${PAIRWISE}.txt compares.`,
    });
  }
  return new Set(own);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
