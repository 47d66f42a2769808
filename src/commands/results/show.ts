import type { Command } from 'commander';
import { nearest } from '../../core/did-you-mean.ts';
import { UserError } from '../../core/errors.ts';
import type { Score } from '../../core/score.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { ScoreRow, TrialDetail, TrialRow } from '../../db/trial-detail.ts';
import type { ShownTrial } from '../../report/show-trial.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { whole } from '../flag-parsers.ts';

interface ShowFlags {
  full?: boolean;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay show latest                     the report and a table of its cases
  $ assay show latest OPS-003             one case: its trials and why they failed
  $ assay show latest OPS-003 2           one trial step by step: messages, tool calls, scores, judge
  $ assay show latest OPS-003 2 --json    the stored rows

ID is an evaluation id, an unambiguous beginning of one, or \`latest\`. Secrets an agent leaked are masked here; --json
and SQL give them as they are stored.
Exit codes: 0 shown, 2 no such evaluation, case or trial, 4 Postgres cannot be used.`;

/** `assay show`: an evaluation, one of its cases, or one trial step by step. */
export function registerShow(program: Command, context: CommandContext): void {
  program
    .command('show')
    .argument('<id>', 'evaluation')
    .argument('[case]', 'id of a case')
    .argument('[trial]', 'number of a trial, from 1', whole(1))
    .description('show an evaluation, one of its cases, or one trial step by step with the reason for each score')
    .option('--full', 'print long texts whole')
    .option('--json', 'print the stored rows as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, caseId: string | undefined, trial: number | undefined, flags: ShowFlags) =>
      withDatabase(context, async ({ db }) => {
        const { resolveEvaluation } = await import('../stored/resolve-id.ts');
        const row = await resolveEvaluation(db, id);
        if (caseId === undefined) await showEvaluation(context, db, row, flags);
        else if (trial === undefined) await showCase(context, db, row, caseId, flags);
        else await showTrial(context, db, row, { caseId, trial }, flags);
      }),
    );
}

async function layout(
  context: CommandContext,
  flags: ShowFlags,
): Promise<{ width: number; color: boolean; full: boolean }> {
  const { layoutOf } = await import('../run/layout-of.ts');
  return { ...layoutOf(context), full: flags.full === true };
}

async function showEvaluation(context: CommandContext, db: Db, row: EvaluationRow, flags: ShowFlags): Promise<void> {
  const [{ storedReport }, { streamCaseResults }] = await Promise.all([
    import('../stored/stored-report.ts'),
    import('../../db/results.ts'),
  ]);
  const report = await storedReport(db, row);
  if (flags.json === true) {
    const { renderJsonWithCases } = await import('../../report/json.ts');
    for await (const piece of renderJsonWithCases(report, streamCaseResults(db, row.id))) context.stdout(piece);
    return;
  }
  const [{ renderText }, { caseTable }] = await Promise.all([
    import('../../report/text.ts'),
    import('../../report/show-cases.ts'),
  ]);
  const cases = [];
  for await (const result of streamCaseResults(db, row.id)) {
    if (cases.length < SHOWN_CASES || flags.full === true || result.outcome !== 'passed') cases.push(result);
  }
  const left = row.cases - cases.length;
  const more = left > 0 ? `and ${left} more that passed (--full shows them)\n` : '';
  context.stdout(renderText(report, await layout(context, flags)));
  context.stdout(`\nCases\n${caseTable(cases).join('\n')}\n${more}`);
}

/** Passed cases beyond this many are left out of the table. */
const SHOWN_CASES = 50;

async function showCase(
  context: CommandContext,
  db: Db,
  row: EvaluationRow,
  caseId: string,
  flags: ShowFlags,
): Promise<void> {
  const [{ loadCase }, details] = await Promise.all([
    import('../../db/evaluation-cases.ts'),
    import('../../db/trial-detail.ts'),
  ]);
  const evalCase = await loadCase(db, row.id, caseId);
  if (evalCase === null) throw await unknownCase(db, row, caseId);
  const [result, trials, scores] = await Promise.all([
    details.loadCaseResult(db, row.id, caseId),
    details.loadTrialsOfCase(db, row.id, caseId),
    details.loadScoresOfCase(db, row.id, caseId),
  ]);
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ evaluation_id: row.id, case: evalCase, result, trials, scores }, null, 2)}\n`);
    return;
  }
  const { renderCase } = await import('../../report/show-case.ts');
  const scoresOf = Map.groupBy(scores, (score) => score.trial_index);
  const shown = {
    evaluation_id: row.id,
    evaluation_status: row.status,
    case_id: caseId,
    evalCase,
    result,
    planned: evalCase.trials ?? row.trials,
    trials: trials.map((trial) => ({
      ...trial,
      tokens: trial.total_tokens,
      error: errorOf(trial),
      scores: scoresOf.get(trial.trial_index) ?? [],
    })),
  };
  context.stdout(renderCase(shown, await layout(context, flags)));
}

async function showTrial(
  context: CommandContext,
  db: Db,
  row: EvaluationRow,
  of: { caseId: string; trial: number },
  flags: ShowFlags,
): Promise<void> {
  const [{ loadCase }, { loadTrialDetail }] = await Promise.all([
    import('../../db/evaluation-cases.ts'),
    import('../../db/trial-detail.ts'),
  ]);
  const evalCase = await loadCase(db, row.id, of.caseId);
  if (evalCase === null) throw await unknownCase(db, row, of.caseId);
  const detail = await loadTrialDetail(db, { evaluationId: row.id, caseId: of.caseId, trialIndex: of.trial });
  if (detail === null) {
    const planned = evalCase.trials ?? row.trials;
    throw new UserError(
      of.trial > planned
        ? `Case ${of.caseId} has ${planned} ${planned === 1 ? 'trial' : 'trials'}, not ${of.trial}.`
        : `Trial ${of.trial} of case ${of.caseId} has not been started.`,
      { hint: `\`assay show ${row.id} ${quoted(of.caseId)}\` lists its trials.` },
    );
  }
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ case: evalCase, ...detail }, null, 2)}\n`);
    return;
  }
  const { renderTrial } = await import('../../report/show-trial.ts');
  context.stdout(renderTrial(shownTrial(detail, evalCase), await layout(context, flags)));
}

function shownTrial(detail: TrialDetail, evalCase: ShownTrial['evalCase']): ShownTrial {
  const { trial } = detail;
  return {
    ...trial,
    error: errorOf(trial),
    evalCase,
    trajectory: detail.trajectory,
    scores: detail.scores.map(scoreOf),
    verdicts: detail.verdicts,
  };
}

function scoreOf(row: ScoreRow): Score {
  const { evaluation_id: _evaluation, case_id: _case, trial_index: _trial, details, ...score } = row;
  return { ...score, details: details as JsonObject | null };
}

function errorOf(trial: TrialRow): { kind: string; message: string } | null {
  return trial.error_kind === null ? null : { kind: trial.error_kind, message: trial.error_message ?? '' };
}

async function unknownCase(db: Db, row: EvaluationRow, caseId: string): Promise<UserError> {
  const { loadSnapshot } = await import('../../db/evaluation-cases.ts');
  const ids = (await loadSnapshot(db, row.id)).map((one) => one.case_id);
  const near = nearest(caseId, ids);
  const begins = ids.filter((id) => id.startsWith(caseId));
  const close = begins.length > 0 ? begins : near === null ? [] : [near];
  return new UserError(`Evaluation ${row.id} has no case "${caseId}".`, {
    hint: close.length > 0 ? `Near it: ${firstOf(close)}` : `It has ${ids.length}: ${firstOf(ids)}`,
  });
}

/** The first five, closed by a full stop, or by … where there are more. */
function firstOf(ids: readonly string[]): string {
  return ids.length > 5 ? `${ids.slice(0, 5).join(', ')}, …` : `${ids.join(', ')}.`;
}

function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
