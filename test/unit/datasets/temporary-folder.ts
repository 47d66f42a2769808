import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { InputError } from '../../../src/core/errors.ts';
import type { Problem } from '../../../src/core/errors.ts';
import type { Report, SourceValue } from '../../../src/datasets/readers/source.ts';

/** A new folder with these files; removed after the last test. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(path.join(inject('scratch'), 'datasets-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

/** `line:column message`, one a problem. */
export function briefly(problems: readonly Problem[]): string[] {
  return problems.map((problem) => `${problem.line}:${problem.column} ${problem.message}`);
}

/** Takes problems into a list. */
export function collecting(): { problems: Problem[]; report: Report } {
  const problems: Problem[] = [];
  return { problems, report: (problem) => void problems.push(problem) };
}

export async function allOf(sources: AsyncIterable<SourceValue> | Iterable<SourceValue>): Promise<SourceValue[]> {
  const out: SourceValue[] = [];
  for await (const source of sources) out.push(source);
  return out;
}

/** The problems a rejected load brings. */
export async function problemsOf(work: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof InputError) return error.problems;
    throw error;
  }
  throw new Error('expected an InputError');
}
