import { readToolCall } from '../../agents/openai/read-tool-call.ts';
import type { EvalCase } from '../../core/case.ts';
import { didYouMean, nearest } from '../../core/did-you-mean.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import { costOf } from '../../core/price.ts';
import type { Suite } from '../../core/suite.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { trialStatus } from '../../core/trial.ts';
import { trajectoryFromRecord } from '../../scorers/trajectories/from-record.ts';
import { scoreTrial } from '../../scorers/index.ts';
import type { ScoreDraft, ScoringSuite } from '../../scorers/scorer.ts';

export type RecordedSuite = ScoringSuite & Pick<Suite, 'prices'>;

/** What a line says it is of. */
interface RecordHead {
  /** null: the line does not say, or names no case there is. */
  caseId: string | null;
  /** As written; null: it is not. */
  trial: unknown;
}

/** A line that can be scored. */
export interface ReadRecord extends RecordHead {
  caseId: string;
  evalCase: EvalCase;
  trajectory: Trajectory;
}

/** A line that cannot: what is wrong, and the path to it inside the line. An empty message: it is not JSON. */
export interface BadRecord extends RecordHead {
  at: string[];
  message: string;
}

/** A line's scores, as the end of the line that is printed: all but the case and the trial's number. */
export interface ScoredRecord extends RecordHead {
  caseId: string;
  scores: string;
}

/** Keys of the case id, and a key that is often written for them. */
const ID_KEYS = ['caseId', 'case_id', 'case', 'id'];

export function readRecord(text: string, cases: ReadonlyMap<string, EvalCase>): ReadRecord | BadRecord {
  const parsed = parseJson(text);
  const record = parsed.ok ? parsed.value : null;
  const headless = (at: string[], message: string): BadRecord => ({ caseId: null, trial: null, at, message });
  if (!parsed.ok) return headless([], '');
  if (!isJsonObject(record)) return headless([], 'expected an object: {"caseId": …, "trial": …, "messages": […]}');
  const id = record['caseId'] ?? record['case_id'];
  if (typeof id !== 'string') {
    const near = id === undefined ? Object.keys(record).find((key) => nearest(key, ID_KEYS) !== null) : undefined;
    const slip = near === undefined ? '' : `; the record has "${near}": write "caseId"`;
    return headless(near === undefined ? ['caseId'] : [near], `"caseId": expected the id of a case${slip}`);
  }
  const evalCase = cases.get(id);
  if (evalCase === undefined) {
    return headless(['caseId'], `no case has the id "${id.slice(0, 300)}"${didYouMean(id, cases.keys())}`);
  }
  const head = { caseId: id, trial: record['trial'] ?? null };
  const read = trajectoryFromRecord(record, { readToolCall, evalCase });
  if (read.ok) return { ...head, evalCase, trajectory: read.trajectory };
  return { ...head, at: read.path, message: `${read.path.join('.') || 'trajectory'}: ${read.problem}` };
}

/** @param custom scores of the suite's own scorers */
export function scoreRecord(record: ReadRecord, suite: RecordedSuite, custom: readonly ScoreDraft[]): ScoredRecord {
  const { caseId, trial, evalCase, trajectory } = record;
  const costUsd = costOf(trajectory.usage, trajectory.model, suite.prices);
  const scores = scoreTrial({ evalCase, trajectory, suite, costUsd }, custom);
  const status = trialStatus(scores);
  const passed = status === 'passed' ? true : status === 'failed' ? false : null;
  return { caseId, trial, scores: JSON.stringify({ passed, scores }).slice(1) };
}

export function scoreLine(
  text: string,
  cases: ReadonlyMap<string, EvalCase>,
  suite: RecordedSuite,
): ScoredRecord | BadRecord {
  const record = readRecord(text, cases);
  return 'message' in record ? record : scoreRecord(record, suite, []);
}
