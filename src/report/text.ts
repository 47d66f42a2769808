import { displayWidth, padEnd, wrap } from './align.ts';
import { cleanText } from './clean.ts';
import { formatCount, formatPercent, formatScore, plural, some } from './format.ts';
import type { ReportModel } from './report-model.ts';
import { calibrationLines } from './calibration-text.ts';
import { createStyle } from './style.ts';
import type { Style } from './style.ts';
import { judgeVarianceLines } from './judge-variance-lines.ts';
import { answerLines, outcomeText } from './text-answers.ts';
import { comparisonLines, gateLines, groupLines, summaryLines } from './text-tables.ts';
import { wrapReason } from './wrong-step.ts';

export interface TextOptions {
  /** Columns of the terminal; default 80, kept between 72 and 120. */
  width?: number;
  /** ANSI colours; default false. */
  color?: boolean;
}

/** Worst cases described with every reason; the first screen names three. */
const DESCRIBED = 5;

/** Repetitions whose completion is listed. */
const REPETITIONS = 10;

function stabilityLines(model: ReportModel, width: number, style: Style): string[] {
  const { stability, pass_at_k, pass_hat_k } = model.result;
  if (stability === null) return [];
  const more = stability.by_trial.length > REPETITIONS ? ', …' : '';
  const rates = stability.by_trial.slice(0, REPETITIONS).map(formatPercent).join(', ') + more;
  const k = pass_at_k.length;
  const lines = [
    `completion by repetition: ${rates}`,
    ...(stability.stdev === null
      ? []
      : [
          `stdev ${formatScore(stability.stdev)}; chance within cases alone would give ${formatScore(stability.expected_stdev)}`,
        ]),
    `pass@${k} ${formatPercent(pass_at_k[k - 1] ?? null)} (any of ${k}) · pass^${k} ${formatPercent(pass_hat_k[k - 1] ?? null)} (all of ${k})`,
  ];
  return [style('dim', 'Stability'), ...lines.flatMap((line) => wrap(line, width - 2).map((one) => `  ${one}`))];
}

function worstLines(model: ReportModel, width: number, style: Style): string[] {
  const shown = model.worst.slice(0, DESCRIBED);
  if (shown.length === 0) return [];
  const lines = shown.flatMap((one) => {
    const facts = [one.category, one.difficulty, one.layer].filter((fact) => fact !== null).join(' · ');
    const reasons = one.reasons.slice(0, 2).flatMap((reason) => {
      const trials = one.trials > 1 ? `trial ${some(reason.trial_indexes.map(String), 5)} · ` : '';
      const why = wrapReason(`${trials}${reason.scorer ?? reason.status}: `, reason.reason, width - 4, 3);
      const step =
        reason.first_wrong_step === null ? [] : wrapReason('first wrong step: ', reason.first_wrong_step, width - 4, 2);
      return [...why, ...step].map((line) => `    ${line}`);
    });
    return [
      `  ${style('bold', one.case_id)}  ${outcomeText(one)}${facts === '' ? '' : `  ${style('dim', facts)}`}`,
      ...reasons,
    ];
  });
  const more = model.not_passed - shown.length;
  return [
    style('dim', 'Worst cases'),
    ...lines,
    ...(more > 0 ? [`  and ${plural(more, 'more case')} that did not pass`] : []),
  ];
}

function diagnosisLines(model: ReportModel, width: number, style: Style): string[] {
  const { diagnosis } = model.result;
  if (diagnosis.length === 0) return [];
  const lines = diagnosis.flatMap(({ layer, symptom, action, case_ids, cases }) => [
    ...wrap(cleanText(`${layer}: ${symptom}`), width - 2, 5).map((line) => `  ${line}`),
    ...wrap(action, width - 6).map((line, i) => `    ${i === 0 ? '→ ' : '  '}${line}`),
    ...(case_ids.length > 0
      ? wrap(`cases: ${some(case_ids, 6, cases)}`, width - 4, 2).map((line) => `    ${line}`)
      : []),
  ]);
  return [style('dim', 'Diagnosis'), ...lines];
}

function unmatchedLines({ unmatched_calls: tools }: ReportModel, width: number): string[] {
  if (tools.length === 0) return [];
  const calls = tools.reduce((sum, one) => sum + one.calls, 0);
  const listed = tools.map((one) => `${one.tool} ${formatCount(one.calls)} (${some(one.case_ids, 3, one.cases)})`);
  return wrap(`No mock answered ${plural(calls, 'call')}: ${listed.join(', ')}`, width, 4);
}

function nextLines(model: ReportModel, width: number, style: Style): string[] {
  const steps = model.next_steps;
  const widest = steps.reduce((most, { what }) => Math.max(most, displayWidth(what)), 0);
  if (steps.length === 0) return [];
  // Commands are there to be copied: they stay on one line, below where there is no room beside.
  const below = steps.some(({ command }) => widest + displayWidth(command) + 4 > width);
  if (below) {
    const lines = steps.flatMap(({ what, command }) => [`  ${what}`, `    ${style('bold', command)}`]);
    return [style('dim', 'Next'), ...lines];
  }
  return [
    style('dim', 'Next'),
    ...steps.map(({ what, command }) => `  ${padEnd(what, widest)}  ${style('bold', command)}`),
  ];
}

/**
 * The report for a terminal: the answers first, then the numbers behind them. Lines are at most `width` columns but for
 * commands, which stay whole so that they can be copied, and tables of very long numbers. Ends with a newline.
 */
export function renderText(model: ReportModel, options: TextOptions = {}): string {
  const width = Math.min(120, Math.max(72, options.width ?? 80));
  const style = createStyle(options.color ?? false);
  const dimHead = ([head, ...rows]: string[]): string[] => (head === undefined ? [] : [style('dim', head), ...rows]);
  const sections = [
    answerLines(model, width, style),
    summaryLines(model, width),
    dimHead(groupLines(model, 'category', 'By category', width)),
    dimHead(groupLines(model, 'dimension', 'By dimension', width)),
    dimHead(groupLines(model, 'layer', 'By layer', width)),
    stabilityLines(model, width, style),
    judgeVarianceLines(model, width, style),
    dimHead(calibrationLines(model.calibration, width)),
    worstLines(model, width, style),
    diagnosisLines(model, width, style),
    unmatchedLines(model, width),
    comparisonLines(model, width, style),
    gateLines(model, width, style),
    nextLines(model, width, style),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.trimEnd()).join('\n'))
    .join('\n\n')}\n`;
}
