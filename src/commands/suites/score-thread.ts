import { parentPort, workerData } from 'node:worker_threads';
import { readCases } from '../../datasets/read-cases.ts';
import { type RecordedSuite, scoreLine } from './score-line.ts';

/** A thread of `assay score`: answers each block of lines with their scores. */
export interface ScoreThreadData {
  /** Dataset file. */
  cases: string;
  suite: RecordedSuite;
}

const { cases: file, suite } = workerData as ScoreThreadData;
const cases = new Map((await readCases(file)).map((evalCase) => [evalCase.id, evalCase]));
parentPort?.on('message', (texts: string[]) => {
  parentPort?.postMessage(texts.map((text) => scoreLine(text, cases, suite)));
});
