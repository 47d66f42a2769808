import path from 'node:path';
import type { EvalCase } from '../../core/case.ts';
import { InputError, UserError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { caseFromBfcl } from '../../datasets/shapes/bfcl.ts';
import { readJsonl } from '../../datasets/readers/read-jsonl.ts';
import { describe, errorAt } from '../../datasets/readers/source.ts';
import { plural } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { distinctIds } from './distinct-ids.ts';
import { writeNewFiles } from './write-new-files.ts';

/** Flags of `assay import bfcl`, as commander hands them over. */
export interface ImportBfclFlags {
  questions: string;
  answers?: string;
  out: string;
  limit?: number;
  force?: boolean;
  json?: boolean;
}

/**
 * Writes a dataset and a suite from files of the Berkeley Function-Calling Leaderboard.
 * @throws InputError with every problem of both files; UserError when the target files exist
 */
export async function importBfcl(context: CommandContext, flags: ImportBfclFlags): Promise<void> {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const answers = flags.answers === undefined ? null : await readAnswers(context, flags.answers, report);
  const cases: EvalCase[] = [];
  const renamed = new Map<string, string>();
  const checkId = distinctIds('question', report);
  for await (const source of readJsonl(path.resolve(context.cwd, flags.questions), flags.questions, report)) {
    if (cases.length === flags.limit) break;
    const question = source.value;
    if (!isJsonObject(question)) {
      report(errorAt(source.place([]), `expected {"id", "question", "function"}, got ${describe(question)}`));
      continue;
    }
    try {
      const converted = caseFromBfcl(question, groundTruthOf(question, answers));
      checkId(converted.evalCase.id, source);
      cases.push(converted.evalCase);
      for (const [from, to] of converted.renamed) renamed.set(from, to);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      report(errorAt(source.place([]), error.message));
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  if (cases.length === 0) throw new UserError(`${flags.questions}: no questions in this file`);
  const name = path.basename(flags.questions).replace(/\.[^.]*$/, '');
  const folder = path.resolve(context.cwd, flags.out);
  const files = new Map([
    ['cases.jsonl', `${cases.map((evalCase) => JSON.stringify(evalCase)).join('\n')}\n`],
    ['suite.yaml', suiteText(name)],
  ]);
  await writeNewFiles(folder, files, { force: flags.force === true, shown: flags.out });
  const suite = path.join(flags.out, 'suite.yaml');
  if (flags.json === true) {
    const summary = { suite, dataset: path.join(flags.out, 'cases.jsonl'), cases: cases.length };
    context.stdout(`${JSON.stringify({ ...summary, renamedTools: Object.fromEntries(renamed) })}\n`);
    return;
  }
  context.stdout(`${plural(cases.length, 'case')} → ${suite}\n`);
  if (renamed.size > 0) {
    const [from, to] = [...renamed][0] ?? ['', ''];
    const why = 'endpoints accept letters, digits, _ and - in tool names';
    context.stdout(`${renamed.size} tool names changed, such as ${from} → ${to} (${why})\n`);
  }
  context.stdout(`Next: assay lint ${suite} · assay run ${suite}\n`);
}

async function readAnswers(
  context: CommandContext,
  file: string,
  report: (problem: Problem) => void,
): Promise<Map<string, Json>> {
  const answers = new Map<string, Json>();
  const checkId = distinctIds('ground truth', report);
  for await (const source of readJsonl(path.resolve(context.cwd, file), file, report)) {
    const { id, ground_truth: truth } = isJsonObject(source.value) ? source.value : {};
    if (typeof id !== 'string' || truth === undefined) {
      report(errorAt(source.place([]), 'expected {id, ground_truth}'));
      continue;
    }
    checkId(id, source);
    answers.set(id, truth);
  }
  return answers;
}

/** null = no call is right. @throws Error when the question has no id, or the answers lack it */
function groundTruthOf({ id }: JsonObject, answers: ReadonlyMap<string, Json> | null): Json | null {
  if (typeof id !== 'string') throw new Error('id: expected text');
  const truth = answers?.get(id);
  if (truth !== undefined) return truth;
  if (answers === null || id.includes('irrelevance')) return null;
  throw new Error(`the answers have no ground truth for "${id}"`);
}

function suiteText(name: string): string {
  return `# Imported from the Berkeley Function-Calling Leaderboard (Apache-2.0) by \`assay import bfcl\`.
name: ${name}
kind: deep # any number of cases
datasets: [cases.jsonl]

agent:
  type: openai
  # Any OpenAI-compatible endpoint: OPENAI_BASE_URL and OPENAI_API_KEY say which.
  model: \${ASSAY_MODEL:-local}
  temperature: 0

# Values are compared as the leaderboard's own checker compares them.
tool_score: { profile: bfcl }

# The leaderboard judges the first reply alone: there are no tools to answer it.
limits: { max_iterations: 1 }

trials: 1
concurrency: 4

gates:
  case_pass_rate: off # the accuracy is what is measured here; put a bound instead, such as ">= 0.7"
`;
}
