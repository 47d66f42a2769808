import type { CaseResult, Diagnosis, NoAnswer, TrialRecord } from '../core/evaluation.ts';
import { exceeds } from '../core/score.ts';
import { createWorstList } from './worst-list.ts';

/** Distinct endings that are told apart; with more, the rest only count in the total. */
const ENDINGS = 100;
/** Case ids that are kept. */
const CASES = 20;
const SHARE_LIMIT = 0.02;

/** True for a failed trial whose agent broke off before it answered: its calls say nothing about its use of tools. */
export function brokeOff(trial: TrialRecord): boolean {
  return trial.status === 'failed' && (trial.no_answer ?? null) !== null;
}

/** What is the same in endings that differ by a process id, a port or a duration. */
function kindOf(ending: string): string {
  return ending.replace(/\d+/g, '#');
}

/** Failed trials that broke off without an answer, by how they ended; undefined without any. */
export function endingsOf(trials: readonly TrialRecord[]): Record<string, number> | undefined {
  const endings: Record<string, number> = {};
  for (const trial of trials) {
    const ending = brokeOff(trial) ? (trial.no_answer ?? '') : '';
    if (ending !== '') endings[ending] = (endings[ending] ?? 0) + 1;
  }
  return Object.keys(endings).length === 0 ? undefined : endings;
}

/** Adds up, over cases, the trials that broke off without an answer. */
export function createNoAnswer(): { add(result: CaseResult): void; finish(): NoAnswer | undefined } {
  const byKind = new Map<string, { ending: string; trials: number }>();
  const cases = createWorstList(CASES);
  let trials = 0;
  return {
    add(result) {
      let ofCase = 0;
      for (const [ending, count] of Object.entries(result.endings ?? {})) {
        ofCase += count;
        const kind = kindOf(ending);
        const known = byKind.get(kind);
        if (known !== undefined) known.trials += count;
        else if (byKind.size < ENDINGS) byKind.set(kind, { ending, trials: count });
      }
      if (ofCase > 0) cases.add(result.case_id, ofCase);
      trials += ofCase;
    },
    finish() {
      const [most] = [...byKind.values()].sort((a, b) => b.trials - a.trials);
      if (most === undefined) return undefined;
      return { trials, ending: most.ending, ending_trials: most.trials, case_ids: cases.ids(), cases: cases.count() };
    },
  };
}

/** True when broken-off trials are at least half of the failed ones: then they come before every other finding. */
export function leads(noAnswer: NoAnswer, failed: number): boolean {
  return noAnswer.trials * 2 >= failed;
}

/** The finding on trials that broke off; null when they are at most 2 % of the planned ones. */
export function diagnoseNoAnswer(noAnswer: NoAnswer | undefined, planned: number): Diagnosis | null {
  if (noAnswer === undefined || !exceeds(noAnswer.trials / planned, SHARE_LIMIT)) return null;
  const { trials, ending, ending_trials: same, case_ids, cases } = noAnswer;
  const of = `${trials} of ${planned} trials`;
  return {
    layer: 'agent',
    symptom:
      same === trials
        ? `${of} ended ${ending}, without an answer`
        : `${of} ended without an answer, ${same} of them ${ending}`,
    action: `Make it answer first: ${of} broke off without an answer. See that it starts (program, arguments, endpoint) and has the time it needs.`,
    case_ids,
    cases,
  };
}
