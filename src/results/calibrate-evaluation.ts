import type { Calibration } from '../core/calibration.ts';
import { labelOfScore, labelScale } from '../core/label-scale.ts';
import type { JudgeDimension } from '../core/suite.ts';
import type { Db } from '../db/connect.ts';
import { loadLabelledScores } from '../db/human-labels.ts';
import type { LabelledScore } from '../db/human-labels.ts';
import { calibrate } from '../statistics/calibration.ts';
import type { LabelPair } from '../statistics/calibration.ts';

/** The stored labels of an evaluation against its judge; null when it has none. */
export async function calibrateEvaluation(db: Db, evaluationId: string, limit?: number): Promise<Calibration | null> {
  const rows = await loadLabelledScores(db, evaluationId);
  return rows.length === 0 ? null : calibrate(rows.map(pairOf), labelScale, limit);
}

function pairOf(row: LabelledScore): LabelPair {
  const { case_id, trial_index: trial, dimension, reviewer, label: human, prompt_hash } = row;
  const shared = { case_id, trial, dimension, reviewer, human, prompt_hash };
  // Labels are checked against the known dimensions before they are stored.
  return { ...shared, judge: labelOfScore(dimension as JudgeDimension, row) };
}
