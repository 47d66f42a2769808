import path from 'node:path';
import type { EvalCase, ToolDefinition } from '../../core/case.ts';
import { InputError, type Problem, UserError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { casesFromPromptfoo, type NotImported } from '../../datasets/imports/promptfoo.ts';
import { caseFromTau2, toolsOfCalls } from '../../datasets/imports/tau2.ts';
import { readRecords } from '../../datasets/readers/read-records.ts';
import { readText } from '../../datasets/readers/read-text.ts';
import { parseYamlSource } from '../../datasets/readers/read-yaml.ts';
import { errorAt } from '../../datasets/readers/source.ts';
import { compileLinear } from '../../scorers/values/linear-regex.ts';
import { plural } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { distinctIds } from './distinct-ids.ts';
import { writeNewFiles } from './write-new-files.ts';

/** Flags of `assay import promptfoo` and `assay import tau2`, as commander hands them over. */
export interface ImportDatasetFlags {
  out: string;
  force?: boolean;
  json?: boolean;
}

/** `assay import promptfoo`. @throws InputError when the file cannot be read; UserError when the target files exist */
export async function importPromptfoo(context: CommandContext, file: string, flags: ImportDatasetFlags): Promise<void> {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const text = await readText(path.resolve(context.cwd, file), file, report);
  const source = text === null ? null : parseYamlSource(text, file, report);
  if (source === null || problems.some((problem) => problem.severity === 'error')) throw new InputError(problems);
  try {
    const isPattern = (pattern: string): boolean => typeof compileLinear(pattern, false) !== 'string';
    const { cases, left } = casesFromPromptfoo(source.value, { isPattern });
    await write(context, flags, { from: file, tool: 'promptfoo', cases, left, tools: [] });
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UserError) throw error;
    throw new InputError([errorAt(source.place([]), error.message)]);
  }
}

/** `assay import tau2`. @throws InputError with every task that cannot be read; UserError when the target files exist */
export async function importTau2(context: CommandContext, file: string, flags: ImportDatasetFlags): Promise<void> {
  const problems: Problem[] = [];
  const cases: EvalCase[] = [];
  const left: NotImported[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const checkId = distinctIds('task', report);
  for await (const source of readRecords(path.resolve(context.cwd, file), file, report)) {
    try {
      const read = caseFromTau2(isJsonObject(source.value) ? source.value : {});
      checkId(read.evalCase.id, source);
      cases.push(read.evalCase);
      left.push(...read.left.map((what) => ({ test: cases.length, what })));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      report(errorAt(source.place([]), error.message));
    }
  }
  if (problems.some((problem) => problem.severity === 'error')) throw new InputError(problems);
  await write(context, flags, { from: file, tool: 'tau2', cases, left, tools: toolsOfCalls(cases) });
}

interface Imported {
  from: string;
  tool: 'promptfoo' | 'tau2';
  cases: EvalCase[];
  left: NotImported[];
  tools: ToolDefinition[];
}

async function write(context: CommandContext, flags: ImportDatasetFlags, imported: Imported): Promise<void> {
  const { cases, left, tools } = imported;
  if (cases.length === 0) {
    const [first] = left;
    const why = first === undefined ? '' : `; not imported: ${first.what}`;
    throw new UserError(`${imported.from}: no case can be made of this file${why}`);
  }
  const files = new Map([
    ['cases.jsonl', `${cases.map((evalCase) => JSON.stringify(evalCase)).join('\n')}\n`],
    ['suite.yaml', suiteText(imported)],
    ...(tools.length === 0 ? [] : [['tools.json', `${JSON.stringify(tools, null, 2)}\n`] as const]),
  ]);
  await writeNewFiles(path.resolve(context.cwd, flags.out), files, { force: flags.force === true, shown: flags.out });
  const suite = path.join(flags.out, 'suite.yaml');
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ suite, cases: cases.length, notImported: left })}\n`);
    return;
  }
  context.stdout(`${plural(cases.length, 'case')} → ${suite}\n`);
  if (left.length > 0) context.stdout(`Not imported (${left.length}):\n${leftLines(left)}`);
  context.stdout(`Next: assay lint ${suite} · assay run ${suite}\n`);
}

/** Equal things once, with the tests they stand in. */
function leftLines(left: readonly NotImported[]): string {
  const tests = new Map<string, number[]>();
  for (const { test, what } of left) tests.set(what, [...(tests.get(what) ?? []), ...(test === null ? [] : [test])]);
  const lines = [...tests].map(([what, numbers]) => {
    const shown = [...new Set(numbers)];
    const more = shown.length > 8 ? `, … (${shown.length})` : '';
    const where = shown.length === 0 ? '' : `, in ${shown.slice(0, 8).join(', ')}${more}`;
    return `  ${what}${where}\n`;
  });
  return lines.join('');
}

function suiteText({ from, tool, cases, tools }: Imported): string {
  const name = path
    .basename(from)
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^\w-]/g, '-');
  const judged = cases.some((one) => one.rubric !== undefined || one.expected.answer !== undefined);
  return `# Imported from ${tool} by \`assay import ${tool}\`.
name: ${JSON.stringify(name)}
kind: deep # any number of cases
datasets: [cases.jsonl]
${tools.length === 0 ? '' : 'tools: tools.json # names and arguments the cases expect; put the real definitions here\n'}
agent:
  type: openai # or http, command, module, a2a: docs/agents.md
  model: \${ASSAY_MODEL:-local}
${judged ? '\njudge:\n  model: ${ASSAY_JUDGE_MODEL:-local-judge}\n  dimensions: [task_completion]\n' : ''}
trials: 1
concurrency: 4
`;
}
