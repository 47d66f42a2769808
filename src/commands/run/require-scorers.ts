import { UserError } from '../../core/errors.ts';
import type { NewEvaluation } from '../../db/create-evaluation.ts';
import type { CommandContext } from '../context.ts';

/**
 * Says before anything is stored or paid for that a scorer of the suite's own cannot be used.
 * @throws UserError (exit 2) naming each, and why
 */
export async function requireScorers(
  context: CommandContext,
  { suite, suiteRoot }: Pick<NewEvaluation, 'suite' | 'suiteRoot'>,
): Promise<void> {
  if (suite.scorers === undefined || suite.scorers.length === 0) return;
  const { scorerProblems } = await import('../../custom-scorers/scorer-problems.ts');
  const { SCORER_HINT } = await import('../../custom-scorers/load-failure.ts');
  const problems = await scorerProblems(suite.scorers, suiteRoot, context.env);
  if (problems.length > 0) throw new UserError(problems.join('\n'), { hint: SCORER_HINT });
}
