import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { codeFile } from '../../core/installed-package.ts';
import type { BadRecord, ScoredRecord } from './score-line.ts';
import type { ScoreThreadData } from './score-thread.ts';

type Results = (ScoredRecord | BadRecord)[];

/** Threads that score blocks of lines beside this one. Each reads the cases for itself while this one does. */
export interface ScoreThreads {
  /** The block's results, from a thread that has room for it; null when none has. Rejects when the thread died. */
  take(texts: string[]): Promise<Results> | null;
  /** What is not answered by then never is: nobody wants it. */
  close(): Promise<void>;
}

/** More than this many threads wait for the one that reads the file. */
const MOST_THREADS = 7;
/** Blocks a thread has in hand: one it works on, one that waits. */
const IN_HAND = 2;
const ENTRY = codeFile('src/commands/suites/score-thread');

export function startScoreThreads(data: ScoreThreadData): ScoreThreads {
  const count = Math.min(MOST_THREADS, availableParallelism() - 1);
  const threads = Array.from({ length: count }, () => createThread(data));
  return {
    take(texts) {
      const free = threads.filter((thread) => thread.inHand() < IN_HAND);
      const [least] = free.sort((a, b) => a.inHand() - b.inHand());
      return least === undefined ? null : least.score(texts);
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Thread {
  /** Blocks not answered yet; without end for a thread that has died. */
  inHand(): number;
  score(texts: string[]): Promise<Results>;
  close(): Promise<void>;
}

function createThread(data: ScoreThreadData): Thread {
  const worker = new Worker(ENTRY, { workerData: data });
  const waiting: PromiseWithResolvers<Results>[] = [];
  let dead = false;
  const die = (error: Error): void => {
    dead = true;
    for (const one of waiting.splice(0)) one.reject(error);
  };
  worker.on('message', (results: Results) => waiting.shift()?.resolve(results));
  worker.on('error', die);
  worker.on('exit', () => die(new Error('a scoring thread ended')));
  return {
    inHand: () => (dead ? Number.POSITIVE_INFINITY : waiting.length),
    score(texts) {
      const answer = Promise.withResolvers<Results>();
      waiting.push(answer);
      worker.postMessage(texts);
      return answer.promise;
    },
    async close() {
      waiting.length = 0;
      await worker.terminate();
    },
  };
}
