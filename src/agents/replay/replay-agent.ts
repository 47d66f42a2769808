import { resolve } from 'node:path';
import { UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { EvalCase, ToolDefinition } from '../../core/case.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Agent } from '../agent.ts';
import { toolsOf } from '../openai/conversation.ts';
import { type ReadCall, readToolCall } from '../openai/read-tool-call.ts';
import { abortError } from '../sleep.ts';
import { indexRecording, type RecordingIndex } from './recording-index.ts';

/** Reads a record into a trajectory; the scorers' own reader (scorers/trajectories/from-record.ts), passed in. */
export type ReadRecord = (
  record: JsonObject,
  facts: {
    tools?: ToolDefinition[];
    readToolCall: (raw: Json) => ReadCall;
    evalCase?: Pick<EvalCase, 'context' | 'messages'>;
  },
) => { ok: true; trajectory: Trajectory } | { ok: false; path: string[]; problem: string };

/**
 * Recorded trajectories in place of an agent: nothing is called, everything is scored again. A trial that was not recorded
 * stops the evaluation: another recording in its place would make the agent look steadier than it is.
 */
export function createReplayAgent(options: { readRecord: ReadRecord }): Agent {
  const indexes = new Map<string, Promise<RecordingIndex>>();
  return {
    async run({ suite, suiteRoot, evalCase, trialIndex, signal }) {
      const config = suite.agent;
      if (config.type !== 'replay') {
        throw new UserError(`the agent of suite ${suite.name} is of type ${config.type}, not replay`);
      }
      const file = resolve(suiteRoot, config.trajectories);
      const loading = indexes.get(file) ?? indexRecording(file, config.trajectories);
      indexes.set(file, loading);
      const index = await loading;
      const record = await index.read(evalCase.id, trialIndex);
      if (signal.aborted) throw abortError(signal);
      if (record === null) throw notRecorded(config.trajectories, evalCase.id, trialIndex, index);
      const read = options.readRecord(record, { tools: toolsOf(evalCase, suite), readToolCall, evalCase });
      if (read.ok) return read.trajectory;
      const place = `${config.trajectories}: trial ${trialIndex} of case "${evalCase.id}"`;
      throw new UserError(`${place}: ${read.path.join('.') || 'trajectory'}: ${read.problem}`);
    },
  };
}

function notRecorded(file: string, caseId: string, trialIndex: number, index: RecordingIndex): UserError {
  const trials = index.trialsOf(caseId);
  const there = trials.length === 0 ? 'nothing of this case' : `its trials ${trials.join(', ')}`;
  return new UserError(`${file} holds no trial ${trialIndex} of case "${caseId}", but ${there}`, {
    hint: 'Record it too, run fewer --trials, or leave the case out with --filter.',
  });
}
