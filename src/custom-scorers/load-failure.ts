import type { CustomScorerConfig } from '../core/suite.ts';

/** What to do about a scorer that cannot be loaded. */
export const SCORER_HINT =
  'expected a .ts, .mts, .js or .mjs file that exports a function ({ evalCase, trajectory, suite, options }) => score: docs/custom-scorers.md';

/** The process machinery is the agents': its messages name an agent module. */
export function loadFailure({ name }: Pick<CustomScorerConfig, 'name'>, message: string): string {
  return message.replace('the agent module', `scorers: "${name}": the module`);
}
