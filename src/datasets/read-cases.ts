import { resolve } from 'node:path';
import type { EvalCase } from '../core/case.ts';
import { InputError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import { CaseCollector } from './case-collector.ts';

/**
 * The cases of one dataset file of any format and shape.
 * @param path relative to the working folder
 * @throws InputError with every problem at once
 */
export async function readCases(path: string): Promise<EvalCase[]> {
  const errors: Problem[] = [];
  const collector = new CaseCollector((problem) => {
    if (problem.severity === 'error') errors.push(problem);
  });
  await collector.addFile(resolve(path), path);
  if (errors.length > 0) throw new InputError(errors);
  return collector.cases;
}
