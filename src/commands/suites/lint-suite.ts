import path from 'node:path';
import { checkModule } from '../../agents/module/check-module.ts';
import { scorerProblems } from '../../custom-scorers/scorer-problems.ts';
import { EXIT, formatProblem, InputError, UserError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { loadSuite } from '../../datasets/load-suite.ts';
import type { LoadedSuite } from '../../datasets/load-suite.ts';
import { errorAt } from '../../datasets/readers/source.ts';
import { loadPrompts } from '../../judge/load-prompts.ts';
import { matcherProblems } from '../../scorers/tool-calls/matcher.ts';
import { readScript } from '../../scripted-model/read-script.ts';
import type { CommandContext } from '../context.ts';
import { ExitSignal } from '../exit-signal.ts';
import { undecidedWarning } from '../undecided-cases.ts';

/** Flags of `assay lint`, as commander hands them over. */
export interface LintFlags {
  json?: boolean;
  vagueWords?: string;
}

/** Prints every problem of a suite. Sets exit code 2 through `ExitSignal` when there is an error among them. */
export async function lintSuite(context: CommandContext, file: string, flags: LintFlags): Promise<void> {
  const words = flags.vagueWords?.split(',').map((word) => word.trim());
  const vagueWords = words?.filter((word) => word !== '');
  let loaded: LoadedSuite | null = null;
  let problems: readonly Problem[];
  try {
    loaded = await loadSuite(file, {
      env: context.env,
      cwd: context.cwd,
      ...(vagueWords === undefined ? {} : { vagueWords }),
    });
    problems = [...loaded.problems, ...(await deeperProblems(loaded, file, context.env))];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problems = error.problems;
  }
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  const warnings = problems.length - errors;
  const cases = loaded?.cases.length ?? null;
  if (flags.json === true) context.stdout(`${JSON.stringify({ suite: file, cases, errors, warnings, problems })}\n`);
  else {
    for (const problem of problems) context.stdout(`${formatProblem(problem)}\n`);
    context.stdout(`${summary(errors, warnings, cases)}\n`);
  }
  if (errors > 0) throw new ExitSignal(EXIT.usage);
}

/** What only the parts that use them can tell: whether matchers, prompts, the offline model's script and the agent's module can be used. */
async function deeperProblems(loaded: LoadedSuite, file: string, env: CommandContext['env']): Promise<Problem[]> {
  const { suite, suiteRoot, cases, positions } = loaded;
  const problems: Problem[] = [];
  for (const evalCase of cases) {
    const calls = [...(evalCase.expected.calls ?? []), ...(evalCase.expected.any_of ?? []).flatMap((way) => way.calls)];
    for (const { path: at, message } of calls.flatMap((call) => matcherProblems(call.args ?? {}))) {
      const place = positions.get(evalCase.id) ?? { file, line: 0, column: 0 };
      problems.push(errorAt(place, `case "${evalCase.id}": expected arguments: ${at}: ${message}`));
    }
  }
  problems.push(...undecidedWarning(loaded, file));
  const check = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof InputError) problems.push(...error.problems);
      else if (error instanceof UserError) problems.push(errorAt({ file, line: 0, column: 0 }, error.message));
      else throw error;
    }
  };
  const { judge, offline_model: script } = suite;
  if (judge !== null) {
    const folder = judge.prompts === undefined ? null : path.join(suiteRoot, judge.prompts);
    await check(() => loadPrompts(folder, judge.language));
  }
  if (script !== undefined) await check(() => readScript(path.join(suiteRoot, script)));
  if (suite.agent.type === 'module') {
    const reason = await checkModule(suite.agent, suiteRoot, env);
    if (reason !== null) problems.push(errorAt({ file, line: 0, column: 0 }, reason));
  }
  const scorers = await scorerProblems(suite.scorers ?? [], suiteRoot, env);
  problems.push(...scorers.map((message) => errorAt({ file, line: 0, column: 0 }, message)));
  return problems;
}

function summary(errors: number, warnings: number, cases: number | null): string {
  const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
  const found = cases === null ? '' : `${count(cases, 'case')}, `;
  if (errors + warnings === 0) return `${found}no problems`;
  return `${found}${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
