import { startOwnWorker } from '../stack/own-worker.ts';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { EXIT, formatProblem, UserError } from '../../core/errors.ts';
import type { EvalCase } from '../../core/case.ts';
import type { Suite } from '../../core/suite.ts';
import { loadSuite } from '../../datasets/load-suite.ts';
import { hashData, hashJudgePrompts, hashSuite } from '../../datasets/suite-hashes.ts';
import { createEvaluation, type NewEvaluation } from '../../db/create-evaluation.ts';
import { loadCases } from '../../db/evaluation-cases.ts';
import { type EvaluationRow, findEvaluation } from '../../db/evaluations.ts';
import { newEvaluation, type SuiteSource } from '../../db/new-evaluation.ts';
import { plural, some } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { conclude } from '../run/conclude.ts';
import { detach } from '../run/detach.ts';
import { requireEndpoint } from '../run/require-endpoint.ts';
import { requireScorers } from '../run/require-scorers.ts';
import { checkId, parseLabels } from '../run/run-suite.ts';
import { reconcile } from '../run/start-evaluation.ts';
import type { Session } from '../session.ts';
import type { RescoreFlags } from './rescore-flags.ts';
import { rescoredCases, type SourceCase } from './rescored-cases.ts';
import { resolveEvaluation } from '../stored/resolve-id.ts';

/** Stores an evaluation over the trajectories of another one and brings it to its report. */
export async function rescoreEvaluation(
  context: CommandContext,
  session: Session,
  id: string,
  flags: RescoreFlags,
): Promise<void> {
  if (flags.suite !== undefined && flags.asSnapshot === true) {
    throw new UserError('--suite and --as-snapshot exclude each other.');
  }
  const source = await reconcile(session.client, session.db, await resolveEvaluation(session.db, id));
  if (source.status === 'running' || source.status === 'paused') {
    throw new UserError(`Evaluation ${source.id} is ${source.status}: its trajectories are not all there.`, {
      exitCode: EXIT.incomplete,
      hint: `Wait for its end (\`assay resume ${source.id}\` follows it), or end it: \`assay cancel ${source.id}\`.`,
    });
  }
  const wanted = await wantedEvaluation(context, session, source, flags);
  requireEndpoint(context, wanted);
  await requireScorers(context, wanted);
  // Of two commands with one id only one stores: the other must not take the first one's results for its own.
  if (!(await createEvaluation(session.db, wanted))) {
    throw new UserError(`evaluation ${wanted.id} exists`, {
      hint: `choose another --id; \`assay resume ${wanted.id}\` goes on with it`,
    });
  }
  const row = await findEvaluation(session.db, wanted.id);
  if (row === null) throw new Error(`evaluation ${wanted.id} was deleted as it was made`);
  const counts = `${plural(row.cases, 'case')}, ${plural(row.planned_trials, 'trial')}`;
  context.stderr(`evaluation ${row.id}: ${counts} of ${source.id}, scored again; the agent is not run\n`);
  if (flags.detach === true) await detach(context, session, row);
  else {
    const worker = flags.worker ? startOwnWorker(context, session) : null;
    await conclude(context, session, row, { worker, json: flags.json === true });
  }
}

async function wantedEvaluation(
  context: CommandContext,
  session: Session,
  source: EvaluationRow,
  flags: RescoreFlags,
): Promise<NewEvaluation> {
  const stored = await loadCases(session.db, source.id);
  const wanted = await suiteOf(context, source, stored, flags);
  const cases = fittingCases(context, source, stored, wanted.cases, flags);
  return newEvaluation(
    {
      ...wanted,
      suite: { ...judgedTimes(wanted.suite, flags.judgeTimes), agent: source.definition.agent, trials: source.trials },
      cases,
      hashes: { ...wanted.hashes, data: hashData(hashesOf(cases, wanted.caseHashes)), agent: source.agent_hash },
    },
    {
      env: context.env,
      now: new Date(),
      sourceId: source.id,
      judgeCache: flags.judgeCache,
      labels: parseLabels(flags.label ?? []),
      ...(flags.id === undefined ? {} : { id: checkId(flags.id) }),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
      ...(flags.budgetUsd === undefined ? {} : { budgetUsd: flags.budgetUsd }),
      ...(flags.baseline === undefined ? {} : { baselineLabel: flags.baseline }),
    },
  );
}

function hashesOf(cases: readonly EvalCase[], hashes: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(cases.map(({ id }) => [id, hashes.get(id) ?? '']));
}

function judgedTimes(suite: Suite, times: number | undefined): Suite {
  if (times === undefined) return suite;
  if (suite.judge === null) {
    throw new UserError('--judge-times: the suite has no judge', { hint: 'add `judge:` to the suite file' });
  }
  return { ...suite, judge: { ...suite.judge, times } };
}

/** The suite to score with: a file as it is now, or what the source stored. */
async function suiteOf(
  context: CommandContext,
  source: EvaluationRow,
  stored: readonly SourceCase[],
  flags: RescoreFlags,
): Promise<SuiteSource> {
  const file = flags.suite === undefined ? source.suite_path : path.resolve(context.cwd, flags.suite);
  if (flags.asSnapshot !== true) {
    if (flags.suite === undefined) await requireFile(file, source.id);
    const loaded = await loadSuite(file, { env: context.env, cwd: context.cwd });
    for (const problem of loaded.problems) context.stderr(`${formatProblem(problem)}\n`);
    return loaded;
  }
  const { definition: suite, suite_path: suitePath, suite_root: suiteRoot } = source;
  const caseHashes = new Map(stored.map(({ evalCase, contentHash }) => [evalCase.id, contentHash]));
  return {
    suite,
    suitePath,
    suiteRoot,
    cases: stored.map(({ evalCase }) => evalCase),
    caseHashes,
    hashes: { suite: await hashSuite(suite, suiteRoot), data: source.data_hash, agent: source.agent_hash },
    judgeHash: await hashJudgePrompts(suite.judge, suiteRoot),
  };
}

async function requireFile(file: string, id: string): Promise<void> {
  const there = await access(file).then(
    () => true,
    () => false,
  );
  if (there) return;
  throw new UserError(`The suite file ${file} is gone.`, {
    hint: `Name another with --suite, or \`assay rescore ${id} --as-snapshot\` takes what is stored.`,
  });
}

/** The cases the stored trajectories answer. Says which are left out. @throws UserError when some ask something else now */
function fittingCases(
  context: CommandContext,
  source: EvaluationRow,
  stored: readonly SourceCase[],
  now: readonly EvalCase[],
  flags: RescoreFlags,
): EvalCase[] {
  const { cases, changed, added, removed } = rescoredCases(stored, now);
  if (changed.length > 0 && flags.skipChanged !== true) {
    throw new UserError(`${plural(changed.length, 'case')} asked something else in ${source.id}: ${some(changed, 8)}`, {
      hint: 'Their stored trajectories answer the old question. Run them (`assay run --filter id=…`), or leave them out: --skip-changed.',
    });
  }
  if (cases.length === 0) {
    throw new UserError(`No case of the suite is in ${source.id}.`, { hint: 'Name the suite file with --suite.' });
  }
  const notes: [string[], string][] = [
    [changed, 'left out, they ask something else now'],
    [added, `left out, not in ${source.id}`],
    [removed, 'no more in the suite'],
  ];
  for (const [ids, what] of notes) {
    if (ids.length > 0) context.stderr(`${plural(ids.length, 'case')} ${what}: ${some(ids, 8)}\n`);
  }
  return cases;
}
