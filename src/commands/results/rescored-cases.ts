import type { EvalCase } from '../../core/case.ts';
import { canonicalJson } from '../../core/json.ts';

/** A case as an evaluation stored it. */
export interface SourceCase {
  evalCase: EvalCase;
  contentHash: string;
  /** Trials planned. */
  trials: number;
}

/** Which cases of a suite the trajectories of an evaluation belong to. */
export interface RescoredCases {
  /** Each with as many trials as the source has of it. */
  cases: EvalCase[];
  /** Ids of cases that ask the agent something else now. */
  changed: string[];
  /** Ids the source does not have. */
  added: string[];
  /** Ids only the source has. */
  removed: string[];
}

/** Pairs the cases of a suite with those of the source, by id. */
export function rescoredCases(source: readonly SourceCase[], now: readonly EvalCase[]): RescoredCases {
  const before = new Map(source.map((one) => [one.evalCase.id, one]));
  const found: RescoredCases = { cases: [], changed: [], added: [], removed: [] };
  const ids = new Set(now.map(({ id }) => id));
  for (const one of now) {
    const stored = before.get(one.id);
    if (stored === undefined) found.added.push(one.id);
    else if (canonicalJson(asked(stored.evalCase)) !== canonicalJson(asked(one))) found.changed.push(one.id);
    else found.cases.push({ ...one, trials: stored.trials });
  }
  found.removed = source.map(({ evalCase }) => evalCase.id).filter((id) => !ids.has(id));
  return found;
}

/** What the agent is given; the rest is what it is held against. */
function asked({ input, messages, turns, tools, context, mock }: EvalCase): Record<string, unknown> {
  return { input, messages, turns, tools, context, mock };
}
