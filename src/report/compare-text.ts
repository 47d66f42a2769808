import type { Comparison } from '../core/evaluation.ts';
import type { PairVerdict, PairwiseResult } from '../core/pairwise.ts';
import type { SegmentChange } from '../core/trajectory.ts';
import { wrap } from './align.ts';
import { cleanText } from './clean.ts';
import { formatCount, formatMoney, formatPercent, NONE, plural } from './format.ts';
import type { Style } from './style.ts';
import { comparisonLines } from './text-tables.ts';

/** What comparing answers cost. */
export interface PairwiseSpending {
  calls: number;
  tokens: number | null;
  cost_usd: number | null;
}

/** Two evaluations side by side. */
export interface CompareModel {
  a: string;
  b: string;
  comparison: Comparison;
  /** What changed in the agent's prompt, segment by segment; empty: nothing, or it is not known. */
  prompt: SegmentChange[];
  pairwise: { judge: string; result: PairwiseResult; pairs: PairVerdict[]; spent: PairwiseSpending } | null;
}

/** Pairs that are described one by one. */
const DESCRIBED = 5;

/** Deltas with intervals, cases that changed sides, and which answers a judge prefers. Ends with a newline. */
export function compareText(model: CompareModel, width: number, style: Style): string {
  const { a, b, comparison } = model;
  const compared = comparison.compared_cases;
  const head = [
    ...wrap(`${b} against ${a}`, width),
    `${plural(compared, 'case')} of equal content compared`,
    ...(compared > 0 ? [] : wrap('Nothing can be compared: no case is the same in both.', width)),
  ];
  const table = comparisonLines({ comparison, baseline_label: null }, width, style);
  const sections = [head, promptLines(model, width, style), table, pairwiseLines(model, width, style)].filter(
    (lines) => lines.length > 0,
  );
  return `${sections.map((lines) => lines.join('\n').trimEnd()).join('\n\n')}\n`;
}

function promptLines({ prompt }: CompareModel, width: number, style: Style): string[] {
  if (prompt.length === 0) return [];
  const lines = prompt.map(({ name, change, before, after }) => {
    const sizes = [before, after].map((text) => (text === null ? NONE : formatCount(text.length)));
    const size = change === 'changed' ? ` (${sizes.join(' → ')} characters)` : '';
    return `${cleanText(name)}: ${change}${size}`;
  });
  return [
    style('dim', "Segments of the agent's prompt"),
    ...lines.flatMap((line) => wrap(line, width - 2).map((one) => `  ${one}`)),
  ];
}

function pairwiseLines({ a, b, pairwise }: CompareModel, width: number, style: Style): string[] {
  if (pairwise === null) return [];
  const { judge, result, spent } = pairwise;
  const range =
    result.low === null || result.high === null
      ? ''
      : ` (95 %: ${formatPercent(result.low).replace(' %', '')} to ${formatPercent(result.high).replace(' %', '')})`;
  const order = result.order_judged === 0 ? NONE : formatPercent(result.order_changed / result.order_judged);
  const lines = [
    `${b} wins ${formatCount(result.wins_b)}, ${a} wins ${formatCount(result.wins_a)}, ${plural(result.ties, 'tie')}, ${formatCount(result.unscored)} without a verdict`,
    `share of ${b}: ${result.preference === null ? NONE : formatPercent(result.preference)}${range} over ${plural(result.cases, 'case')}; p ${result.p.toFixed(3)} (sign test over cases)`,
    `changed with the order of the answers: ${order}; such a pair is a tie`,
    `${plural(spent.calls, 'judge call')}, ${spent.tokens === null ? 'tokens unknown' : `${formatCount(spent.tokens)} tokens`}, ${spent.cost_usd === null ? 'money unknown (no price for the model)' : formatMoney(spent.cost_usd)}`,
  ];
  return [
    style('dim', `Answer by answer, judged by ${judge} in both orders`),
    ...lines.flatMap((line) => wrap(line, width - 2).map((one) => `  ${one}`)),
    ...lostLines(pairwise.pairs, width),
  ];
}

/** Where the second evaluation lost: what a reader wants to look at. */
function lostLines(pairs: readonly PairVerdict[], width: number): string[] {
  const lost = pairs.filter((pair) => pair.winner === 'a');
  const lines = lost
    .slice(0, DESCRIBED)
    .flatMap((pair) =>
      wrap(`lost: ${cleanText(pair.case_id)} trial ${pair.trial_index}: ${cleanText(pair.reason)}`, width - 4, 2).map(
        (line) => `  ${line}`,
      ),
    );
  const more = lost.length - DESCRIBED;
  return more > 0 ? [...lines, `  and ${formatCount(more)} more`] : lines;
}
