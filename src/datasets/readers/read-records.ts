import { extname } from 'node:path';
import { isJsonObject } from '../../core/json.ts';
import { parseJsonSource } from './read-json.ts';
import { readJsonl } from './read-jsonl.ts';
import { notAFile, readText } from './read-text.ts';
import { describe, errorAt, partOf } from './source.ts';
import type { Report, SourceValue } from './source.ts';

const DATASET_EXTENSIONS = ['.yaml', '.yml', '.json', '.jsonl', '.ndjson', '.csv', '.tsv'] as const;

/**
 * The records of a dataset file, one by one, by its extension (see {@link DATASET_EXTENSIONS}). YAML and JSON files hold a
 * list of cases, an object with a `cases` list, or one case. Reports what cannot be read, and a file without records.
 * @param file the name used in problems
 */
export async function* readRecords(absolutePath: string, file: string, report: Report): AsyncGenerator<SourceValue> {
  let found = 0;
  let failed = false;
  const watch: Report = (problem) => {
    if (problem.severity === 'error') failed = true;
    report(problem);
  };
  for await (const record of recordsOf(absolutePath, file, watch)) {
    found++;
    yield record;
  }
  if (found === 0 && !failed) report(errorAt({ file, line: 0, column: 0 }, 'no cases in this file'));
}

async function* recordsOf(absolutePath: string, file: string, report: Report): AsyncGenerator<SourceValue> {
  const extension = extname(absolutePath).toLowerCase();
  if (extension === '.jsonl' || extension === '.ndjson') {
    yield* readJsonl(absolutePath, file, report);
    return;
  }
  if (!(DATASET_EXTENSIONS as readonly string[]).includes(extension)) {
    const kind =
      extension === '' ? 'the name has no ending that says its kind' : `unknown kind of dataset "${extension}"`;
    const problem = (await notAFile(absolutePath)) ?? `${kind}; expected ${DATASET_EXTENSIONS.join(', ')}`;
    report(errorAt({ file, line: 0, column: 0 }, problem));
    return;
  }
  const text = await readText(absolutePath, file, report);
  if (text === null) return;
  if (extension === '.csv' || extension === '.tsv') {
    // Readers of other formats bring a library each: loaded when there is such a file.
    const { readCsv } = await import('./read-csv.ts');
    yield* readCsv(text, file, report);
    return;
  }
  const parse = extension === '.json' ? parseJsonSource : (await import('./read-yaml.ts')).parseYamlSource;
  const source = text.trim() === '' ? null : parse(text, file, report);
  if (source !== null) yield* splitRecords(source, report);
}

function* splitRecords(source: SourceValue, report: Report): Generator<SourceValue> {
  const { value } = source;
  if (value === null) return;
  const list = isJsonObject(value) && Array.isArray(value['cases']) ? value['cases'] : value;
  const prefix = list === value ? [] : ['cases'];
  if (!Array.isArray(list)) {
    if (isJsonObject(list)) yield source;
    else report(errorAt(source.place([]), `expected a list of cases, got ${describe(list)}`));
    return;
  }
  // Lost forms are split once, by case: asking partOf for each case would be quadratic.
  const byCase = new Map<number, SourceValue['lostForms'][number][]>();
  for (const form of source.lostForms) {
    const index = form.path[prefix.length];
    if (typeof index !== 'number') continue;
    byCase.set(index, [
      ...(byCase.get(index) ?? []),
      { path: form.path.slice(prefix.length + 1), written: form.written },
    ]);
  }
  for (let i = 0; i < list.length; i++) {
    const part = partOf({ ...source, lostForms: [] }, [...prefix, i]);
    yield { ...part, lostForms: byCase.get(i) ?? [] };
  }
}
