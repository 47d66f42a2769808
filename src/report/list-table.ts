import { fittedTable } from './align.ts';
import { cleanText } from './clean.ts';
import { formatPercent, NONE } from './format.ts';

/** One evaluation as a line of `assay list`. */
export interface ListedEvaluation {
  evaluation_id: string;
  suite: string;
  status: string;
  created_at: Date;
  ended: number;
  planned: number;
  completion_rate: number | null;
  verdict: string | null;
}

/** `2026-03-18 02:00`, in the time zone of this machine. */
export function localMinute(date: Date): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/**
 * Lines of a table, aligned with full-width names. Ids are never cut: they are there to be copied.
 * @param width columns it may take; default: no limit
 */
export function listTable(evaluations: readonly ListedEvaluation[], width = Infinity): string[] {
  return fittedTable(
    [
      { title: 'id' },
      // Ids made by Assay begin with the suite and the time.
      { title: 'suite', max: 24, min: 6, drop: 3 },
      { title: 'status' },
      { title: 'created', drop: 1 },
      { title: 'trials', align: 'right', drop: 2 },
      { title: 'completion', align: 'right', drop: 4 },
      { title: 'verdict', max: 60, min: 16, drop: 5 },
    ],
    evaluations.map((one) => [
      one.evaluation_id,
      cleanText(one.suite),
      one.status,
      localMinute(one.created_at),
      one.ended === one.planned ? String(one.planned) : `${one.ended}/${one.planned}`,
      formatPercent(one.completion_rate),
      one.verdict === null ? NONE : cleanText(one.verdict),
    ]),
    width,
  );
}
