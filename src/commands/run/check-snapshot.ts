import { access } from 'node:fs/promises';
import { InputError, UserError } from '../../core/errors.ts';
import { loadSuite, type LoadedSuite } from '../../datasets/load-suite.ts';
import { type CaseFilter, selectCases } from '../../datasets/select-cases.ts';
import { hashSuite } from '../../datasets/suite-hashes.ts';
import type { Suite } from '../../core/suite.ts';
import type { Db } from '../../db/connect.ts';
import type { NewEvaluation } from '../../db/create-evaluation.ts';
import { everyCaseSaysTrials, loadSnapshot } from '../../db/evaluation-cases.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { newEvaluation } from '../../db/new-evaluation.ts';
import type { CommandContext } from '../context.ts';
import { changeLines, type Changes, detectChanges, hasChanges } from './detect-changes.ts';

export interface SnapshotFlags {
  rerunChanged?: boolean;
  asSnapshot?: boolean;
}

/** The evaluation as its files would make it now; null: go on with what is stored. */
export type Replacement = { wanted: NewEvaluation; changes: Changes } | null;

export interface SnapshotCheck {
  replacement: Replacement;
  /** The suite as it is now, where it was read and results do not differ; else null. */
  suite: Suite | null;
}

const AS_STORED: SnapshotCheck = { replacement: null, suite: null };

/**
 * Compares what an evaluation is made of with the files as they are now, and says what changed.
 * @returns the replacement when something changed and `--rerun-changed` was given
 * @throws UserError (exit 2) when something changed and neither choice was made, or the files are gone or faulty
 */
export async function checkSnapshot(
  context: CommandContext,
  db: Db,
  row: EvaluationRow,
  flags: SnapshotFlags,
): Promise<SnapshotCheck> {
  if (flags.rerunChanged === true && flags.asSnapshot === true) {
    throw new UserError('--rerun-changed and --as-snapshot exclude each other.');
  }
  if (row.source_evaluation_id !== null) {
    if (flags.rerunChanged !== true) return AS_STORED;
    throw new UserError(
      `Evaluation ${row.id} scores the trajectories of ${row.source_evaluation_id}: it runs no agent.`,
      {
        hint: `\`assay rescore ${row.source_evaluation_id}\` scores them with the suite as it is now.`,
      },
    );
  }
  if (flags.asSnapshot === true) {
    context.stderr('going on with the suite, cases and agent as they were stored\n');
    return AS_STORED;
  }
  const loaded = await loadAgain(context, row);
  const wanted = await wantedNow(context, db, row, loaded);
  const changes = await changesOf(db, row, wanted);
  if (!hasChanges(changes)) {
    if (changes.kept.length > 0) {
      context.stderr(`note: ${changes.kept.join(', ')} differ in the suite file; the evaluation keeps its own\n`);
    }
    return { replacement: null, suite: wanted.suite };
  }
  const lines = changeLines(changes);
  if (flags.rerunChanged !== true) throw refusal(row, lines, changes);
  context.stderr(`changed since ${row.id} was started:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return { replacement: { wanted, changes }, suite: null };
}

function refusal(row: EvaluationRow, lines: readonly string[], changes: Changes): UserError {
  const rerun = changes.everything ? 'runs every trial again' : 'keeps what is unchanged and runs only the rest';
  const id = row.id;
  return new UserError(`Since ${id} was started this changed:\n${lines.map((line) => `  ${line}`).join('\n')}`, {
    hint: `Choose one:\n    assay resume ${id} --rerun-changed    take the suite as it is now; ${rerun}\n    assay resume ${id} --as-snapshot      go on with the suite and cases as they were stored`,
  });
}

async function loadAgain(context: CommandContext, row: EvaluationRow): Promise<LoadedSuite> {
  const snapshot = `\`assay resume ${row.id} --as-snapshot\` goes on with what is stored.`;
  const there = await access(row.suite_path).then(
    () => true,
    () => false,
  );
  if (!there)
    throw new UserError(`The suite file ${row.suite_path} is gone.`, { hint: `Bring it back, or: ${snapshot}` });
  try {
    return await loadSuite(row.suite_path, { env: context.env });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UserError(`The suite has changed and does not load any more:\n${error.message}`, {
      hint: `Mend it, or: ${snapshot}`,
      cause: error,
    });
  }
}

/** The suite as it is now, with the options the evaluation was started with. */
async function wantedNow(
  context: CommandContext,
  db: Db,
  row: EvaluationRow,
  loaded: LoadedSuite,
): Promise<NewEvaluation> {
  const suite = { ...loaded.suite, trials: row.trials, concurrency: row.concurrency, labels: row.labels };
  const forced = await everyCaseSaysTrials(db, row.id, row.trials);
  const filter = row.filters as CaseFilter;
  return newEvaluation(
    { ...loaded, suite },
    {
      env: context.env,
      now: row.created_at,
      id: row.id,
      cases: selectCases(loaded.cases, filter),
      filters: row.filters,
      failFast: row.fail_fast,
      baselineLabel: row.baseline_label,
      scheduleId: row.schedule_id,
      ...(row.budget_usd === null ? {} : { budgetUsd: row.budget_usd }),
      ...(forced ? { trials: row.trials } : {}),
    },
  );
}

async function changesOf(db: Db, row: EvaluationRow, wanted: NewEvaluation): Promise<Changes> {
  const stored = row.definition;
  const cases = wanted.cases.map((one) => ({ case_id: one.id, content_hash: wanted.caseHashes.get(one.id) ?? '' }));
  return detectChanges(
    { suite: stored, agentHash: row.agent_hash, suiteHash: row.suite_hash, cases: await loadSnapshot(db, row.id) },
    { suite: wanted.suite, agentHash: wanted.hashes.agent, suiteHash: wanted.hashes.suite, cases },
    {
      fixturesAside: await hashSuite({ ...wanted.suite, fixtures: stored.fixtures }, wanted.suiteRoot),
      promptsNow: await hashSuite(stored, wanted.suiteRoot),
    },
  );
}
