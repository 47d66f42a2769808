import { table, wrap } from './align.ts';
import { formatCount, formatPercent, NONE } from './format.ts';
import type { ReportModel } from './report-model.ts';
import type { Style } from './style.ts';
import { metricName } from './text-answers.ts';

/** How much of the spread of judged scores is the judge's, where trajectories were judged several times. */
export function judgeVarianceLines(model: ReportModel, width: number, style: Style): string[] {
  const variances = model.result.judge_variance ?? [];
  if (variances.length === 0) return [];
  const [head, ...rows] = table(
    [
      { title: 'Judge and agent apart', max: 26 },
      { title: 'trials', align: 'right' },
      { title: 'verdicts', align: 'right' },
      { title: 'judge sd', align: 'right' },
      { title: 'agent sd', align: 'right' },
      { title: "judge's part", align: 'right' },
    ],
    variances.map((one) => [
      metricName(one.dimension),
      formatCount(one.trials),
      formatCount(one.verdicts),
      deviation(one.judge_variance),
      deviation(one.agent_variance),
      one.judge_share === null ? NONE : formatPercent(one.judge_share),
    ]),
  );
  const differing = variances
    .filter((one) => one.differing_trials > 0)
    .map((one) => `${metricName(one.dimension)} ${formatCount(one.differing_trials)} of ${formatCount(one.trials)}`);
  const notes =
    differing.length === 0
      ? 'every trajectory was judged alike each time'
      : `judged differently: ${differing.join(', ')} trials`;
  return [style('dim', head ?? ''), ...rows, ...wrap(notes, width - 2).map((line) => `  ${line}`)];
}

/** Of a variance, to three places. */
function deviation(variance: number | null): string {
  return variance === null ? NONE : Math.sqrt(variance).toFixed(3);
}
