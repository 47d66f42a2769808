import { type Artifact, Message, TaskState } from '@a2a-js/sdk';
import type { CommandContext } from '../../commands/context.ts';
import { requireEndpoint } from '../../commands/run/require-endpoint.ts';
import { REPORT_EXTENSION } from '../../agents/a2a/remote-parts.ts';
import type { ChatMessage, EvalCase } from '../../core/case.ts';
import type { Json } from '../../core/json.ts';
import type { Suite } from '../../core/suite.ts';
import type { FinalStatus, Trajectory } from '../../core/trajectory.ts';
import { loadSuite, type LoadedSuite } from '../../datasets/load-suite.ts';
import { hashCases, hashData } from '../../datasets/suite-hashes.ts';
import type { A2aTaskRow } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { newEvaluation } from '../../db/new-evaluation.ts';
import { loadTrialDetail } from '../../db/trial-detail.ts';
import { artifactOf, type Content, contentOf, dataPart, INPUT_MODES, OUTPUT_MODES, textPart } from './parts.ts';
import type { EvaluationEnd, Served, TaskEnd, Turn } from './served.ts';

export interface AgentServiceDeps {
  context: CommandContext;
  db: Db;
  /** The suite whose agent is published. */
  file: string;
}

/** Id of the one case of a task's evaluation. */
const CASE_ID = 'message';

/**
 * The agent of a suite as an A2A agent (`assay serve --agent`). A message is a case of its own: its evaluation is as
 * durable as any, its trajectory holds the answer. Tools are the suite's, answered by its fixtures and sources. Messages
 * of one context are one conversation.
 */
export async function createAgentService({ context, db, file }: AgentServiceDeps): Promise<Served> {
  const { suite } = await loadSuite(file, { env: context.env, cwd: context.cwd });
  return {
    key: `agent:${suite.name}`,
    name: suite.name,
    description: suite.description ?? `The agent of the suite ${suite.name}, published by Assay.`,
    skills: [
      {
        id: 'chat',
        name: suite.name,
        description: 'Takes a message and answers it; asks when something is missing.',
        tags: ['agent'],
        examples: [],
        inputModes: INPUT_MODES,
        outputModes: OUTPUT_MODES,
        securityRequirements: [],
      },
    ],
    extensions: [
      { uri: REPORT_EXTENSION, description: 'Tells tool calls, usage and more of its work in a data part.' },
    ],
    async plan(turn) {
      const loaded = await loadSuite(file, { env: context.env, cwd: context.cwd });
      const messages = [...(await earlierMessages(db, turn.context)), { role: 'user' as const, content: textOf(turn) }];
      const source = sourceOf(loaded, { id: CASE_ID, messages, expected: {} });
      const wanted = newEvaluation(source, { env: context.env, now: new Date(), labels: { served: 'a2a' } });
      requireEndpoint(context, wanted);
      return { kind: 'start', wanted };
    },
    progress: () => Promise.resolve('working'),
    decidingCase: CASE_ID,
    stateOfEnd,
    end: (row) => endOf(db, row),
  };
}

/** The suite with one case, and nothing that judges it: nobody said what is expected. */
function sourceOf(loaded: LoadedSuite, evalCase: EvalCase): Parameters<typeof newEvaluation>[0] {
  const suite: Suite = { ...loaded.suite, name: `${loaded.suite.name}@agent`, judge: null, trials: 1, gates: [] };
  const caseHashes = hashCases([evalCase], suite);
  const hashes = { ...loaded.hashes, data: hashData(caseHashes) };
  return { ...loaded, suite, cases: [evalCase], caseHashes, hashes, judgeHash: null };
}

/** What the agent is told. The part Assay's own adapter adds (tools, documents) is no word of the user: the suite has its own. */
function textOf({ message }: Turn): string {
  const { text, data }: Content = contentOf(message);
  const said = data.filter((part) => !Object.hasOwn(part, 'assay_case'));
  return [text, ...said.map((part) => JSON.stringify(part))].filter((part) => part !== '').join('\n');
}

/** The conversation of a context so far: what its last evaluation sent and received, without the system prompt. */
async function earlierMessages(db: Db, context: readonly A2aTaskRow[]): Promise<ChatMessage[]> {
  const last = context.findLast((row) => row.evaluation_id !== null);
  if (last?.evaluation_id === undefined || last.evaluation_id === null) return [];
  const trajectory = await trajectoryOf(db, last.evaluation_id);
  if (trajectory === null) {
    // It gave no trajectory: what was asked is all there is.
    return last.history.map((stored) => ({ role: 'user', content: plainText(Message.fromJSON(stored)) }));
  }
  return trajectory.messages.filter(({ role }) => role !== 'system' && role !== 'developer');
}

function plainText(message: Message): string {
  return message.parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}

async function trajectoryOf(db: Db, evaluationId: string): Promise<Trajectory | null> {
  const detail = await loadTrialDetail(db, { evaluationId, caseId: CASE_ID, trialIndex: 1 });
  return detail?.trajectory ?? null;
}

const STATES: Record<FinalStatus, TaskState> = {
  COMPLETED: TaskState.TASK_STATE_COMPLETED,
  PARTIAL_SUCCESS: TaskState.TASK_STATE_COMPLETED,
  ESCALATED: TaskState.TASK_STATE_COMPLETED,
  INPUT_REQUIRED: TaskState.TASK_STATE_INPUT_REQUIRED,
  FAILED: TaskState.TASK_STATE_FAILED,
  TIMEOUT: TaskState.TASK_STATE_FAILED,
  MAX_ITERATIONS: TaskState.TASK_STATE_FAILED,
  CANCELED: TaskState.TASK_STATE_CANCELED,
};

/** Whatever became of the evaluation: what the agent's one trial came to. */
function stateOfEnd({ finalStatus }: Pick<EvaluationEnd, 'finalStatus'>): TaskState {
  return finalStatus === null ? TaskState.TASK_STATE_FAILED : STATES[finalStatus];
}

async function endOf(db: Db, row: EvaluationRow): Promise<TaskEnd> {
  const detail = await loadTrialDetail(db, { evaluationId: row.id, caseId: CASE_ID, trialIndex: 1 });
  const trajectory = detail?.trajectory ?? null;
  const state = stateOfEnd({ finalStatus: trajectory?.final_status ?? null });
  if (trajectory === null) {
    const why = detail?.trial.error_message ?? row.stop_message ?? 'the agent gave no answer';
    return { state, text: why, artifacts: [] };
  }
  const text = state === TaskState.TASK_STATE_COMPLETED ? '' : (trajectory.final_status_reason ?? '');
  if (state === TaskState.TASK_STATE_INPUT_REQUIRED) {
    return { state, text: trajectory.answer ?? text, artifacts: [reportOf(trajectory)] };
  }
  return { state, text, artifacts: [...answerOf(trajectory), reportOf(trajectory)] };
}

function answerOf({ answer }: Trajectory): Artifact[] {
  return answer === null ? [] : [artifactOf('answer', 'The answer', [textPart(answer)])];
}

/** What the agent did, in the form that Assay's own A2A adapter reads (docs/a2a.md). */
function reportOf(trajectory: Trajectory): Artifact {
  const { final_status, tool_calls, usage, retrieved_doc_ids, sub_agents, plan, model } = trajectory;
  const report = {
    final_status,
    tool_calls: tool_calls.map(({ id, turn, tool, args, raw_arguments, result, error }) => ({
      id,
      turn,
      tool,
      args: args ?? raw_arguments,
      result,
      error,
    })),
    usage,
    sub_agents,
    ...(retrieved_doc_ids === null ? {} : { retrieved_doc_ids }),
    ...(plan === null ? {} : { plan }),
    ...(model === null ? {} : { model }),
  };
  const data = { assay_report: JSON.parse(JSON.stringify(report)) as Json };
  return artifactOf('assay-report', 'What the agent did: calls, tokens, sub-agents', [dataPart(data)]);
}
