import type { EvaluationRow } from '../../db/evaluations.ts';
import type { Progress } from '../../db/missing-trials.ts';
import { displayWidth, truncate } from '../../report/align.ts';

/** How far an evaluation is, and how fast it went while somebody looked. */
interface Pace {
  /** Trials that have ended. */
  done: number;
  /** Of them, those that ended within the last {@link elapsedMs}. */
  doneSince: number;
  elapsedMs: number;
}

interface Parts {
  /** Columns of the bar; 0: none. */
  bar: number;
  counts: 'words' | 'short' | 'none';
  rate: boolean;
}

/** From the whole line to what is least: the bar shrinks first, then the rate goes, then the words, then the bar. */
const FORMS: readonly Parts[] = [
  { bar: 24, counts: 'words', rate: true },
  { bar: 16, counts: 'words', rate: true },
  { bar: 10, counts: 'words', rate: true },
  { bar: 10, counts: 'words', rate: false },
  { bar: 10, counts: 'short', rate: false },
  { bar: 0, counts: 'short', rate: false },
  { bar: 0, counts: 'none', rate: false },
];

/**
 * One line: bar, counts, rate and time left; the trials in flight where there is no rate yet, and when nothing waits
 * behind them.
 * @param columns of the terminal; a longer line would wrap and could not be redrawn. Default: no limit.
 */
export function progressLine(
  row: Pick<EvaluationRow, 'suite' | 'status'>,
  progress: Progress,
  pace: Pace,
  columns = Infinity,
): string {
  const lines = FORMS.map((parts) => lineOf(row, progress, pace, parts));
  // The last column stays free: a terminal moves on when it is written.
  const fitting = lines.find((line) => displayWidth(line) < columns) ?? lines.at(-1) ?? '';
  return columns === Infinity ? fitting : truncate(fitting, columns - 1);
}

function lineOf(row: Pick<EvaluationRow, 'suite' | 'status'>, progress: Progress, pace: Pace, parts: Parts): string {
  const counts = countsText(progress, parts.counts);
  const rate = pace.elapsedMs > 1_000 && pace.doneSince > 0 ? pace.doneSince / (pace.elapsedMs / 1_000) : null;
  const left = rate === null ? '' : `${formatSeconds((progress.planned - pace.done) / rate)} left`;
  const inFlight = progress.running > 0 && (rate === null || progress.planned - pace.done <= progress.running);
  const tail = [
    ...(inFlight && parts.rate ? [`${progress.running} running`] : []),
    ...(rate === null || !parts.rate ? [] : [`${rate.toFixed(1)}/s`]),
    ...(left === '' ? [] : [left]),
  ];
  return [
    row.suite,
    ...(row.status === 'paused' ? ['(paused)'] : []),
    ...(parts.bar === 0 ? [] : [bar(progress.planned === 0 ? 1 : pace.done / progress.planned, parts.bar)]),
    `${pace.done}/${progress.planned} trials${counts === '' ? '' : `: ${counts}`}${tail.length === 0 ? '' : ` · ${tail.join(', ')}`}`,
  ].join(' ');
}

function bar(share: number, width: number): string {
  const filled = Math.round(share * width);
  return `${'━'.repeat(filled)}${'─'.repeat(width - filled)}`;
}

function countsText(progress: Progress, form: Parts['counts']): string {
  const { passed, failed, unscored, errored } = progress;
  if (form === 'none') return '';
  if (form === 'short') return `✓ ${passed} ✗ ${failed}${unscored + errored > 0 ? ` ? ${unscored + errored}` : ''}`;
  return [
    `${passed} passed`,
    `${failed} failed`,
    ...(unscored > 0 ? [`${unscored} unscored`] : []),
    ...(errored > 0 ? [`${errored} errored`] : []),
  ].join(', ');
}

/** `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
