import { checkModule } from '../agents/module/check-module.ts';
import type { CustomScorerConfig } from '../core/suite.ts';
import { loadFailure } from './load-failure.ts';
import { scorerEnvironment } from './scorer-environment.ts';

/**
 * Loads each of the suite's own scorers in a child process, as a trial would; none is called.
 * @returns a sentence for each that cannot be loaded or exports no such function
 */
export async function scorerProblems(
  configs: readonly CustomScorerConfig[],
  suiteRoot: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const config of configs) {
    const { path, export: exported } = config;
    const module = { type: 'module', path, ...(exported === undefined ? {} : { export: exported }) } as const;
    const reason = await checkModule(module, suiteRoot, scorerEnvironment(env));
    if (reason !== null) problems.push(loadFailure(config, reason));
  }
  return problems;
}
