import type { Expected } from '../../core/case.ts';
import { exceeds } from '../../core/score.ts';
import { latencyMs } from '../../core/trajectory.ts';
import type { ScoreDraft, Scorer, ScoringInput } from '../scorer.ts';

type LimitName = 'max_iterations' | 'max_tokens' | 'max_tool_calls' | 'max_latency_ms' | 'max_cost';

interface Limit {
  name: LimitName;
  unit: string;
  /** Null = not recorded. */
  read: (input: ScoringInput) => number | null;
}

const LIMITS: readonly Limit[] = [
  { name: 'max_iterations', unit: 'iterations', read: ({ trajectory }) => trajectory.iterations },
  { name: 'max_tokens', unit: 'tokens', read: ({ trajectory }) => trajectory.usage.total },
  { name: 'max_tool_calls', unit: 'tool calls', read: ({ trajectory }) => trajectory.tool_calls.length },
  {
    name: 'max_latency_ms',
    unit: 'ms',
    read: ({ trajectory }) => latencyMs(trajectory),
  },
  { name: 'max_cost', unit: 'US dollars', read: ({ costUsd }) => costUsd },
];

export const LIMIT_SCORERS: ReadonlySet<string> = new Set(LIMITS.map(({ name }) => name));

/** The declared limits of a case, one score each: 1 within, 0 beyond, null when the quantity is not known. */
export const limits: Scorer = (input) =>
  LIMITS.flatMap((limit) => {
    const most = (input.evalCase.expected as Expected)[limit.name];
    return most === undefined ? [] : [scoreLimit(limit, most, limit.read(input))];
  });

function scoreLimit({ name, unit }: Limit, most: number, got: number | null): ScoreDraft {
  const known = got !== null && Number.isFinite(got);
  const passed = known ? !exceeds(got, most) : null;
  const reason = known ? `${got} ${unit}, at most ${most} allowed` : `${unit} not known, at most ${most} allowed`;
  return {
    scorer: name,
    dimension: null,
    value: passed === null ? null : Number(passed),
    passed,
    reason,
    details: { limit: most, got: known ? got : null },
  };
}
