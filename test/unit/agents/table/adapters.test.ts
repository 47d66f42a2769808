import { TaskState } from '@a2a-js/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPORT_EXTENSION } from '../../../../src/agents/a2a/remote-parts.ts';
import { createAgent } from '../../../../src/agents/index.ts';
import type { Agent } from '../../../../src/agents/agent.ts';
import { a2aAgentSchema } from '../../../../src/core/a2a-config.schema.ts';
import { commandAgentSchema, httpAgentSchema, replayAgentSchema } from '../../../../src/core/agent-config.schema.ts';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import type { ModelReply } from '../../../../src/core/model.ts';
import type { AgentConfig, Suite } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { scoreTrial } from '../../../../src/scorers/index.ts';
import { trajectoryFromRecord } from '../../../../src/scorers/trajectories/from-record.ts';
import { data, type Remote, startRemote } from '../a2a/remote-agent-fixture.ts';
import { startService, type Service } from '../http/service.ts';
import { sendJson } from '../http-endpoint.ts';
import { calls, inputOf, scripted, suiteOf, text } from '../trial-fixture.ts';
import { type Step, TABLE, type TableRow } from './cases.ts';

const TOOLS = ['get_order', 'refund', 'transfer', 'request_approval', 'escalate_to_human', 'lost'].map((name) => ({
  name,
}));

let folder = '';
let service: Service;
let remote: Remote;
let following: readonly Step[] = [];
const agents: { close(): Promise<void> }[] = [];

function suite(agent: AgentConfig): Suite {
  return suiteOf({ agent, tools: TOOLS, safety: { ...suiteOf().safety, high_risk_tools: ['refund'] } });
}

function make(config: AgentConfig): Agent {
  const agent = createAgent(config, {
    suiteRoot: folder,
    env: { PATH: process.env['PATH'] },
    readRecord: trajectoryFromRecord,
  });
  agents.push(agent);
  return agent;
}

/** The metadata carries the script: that is all an agent is told beside the conversation. */
function input(row: TableRow, config: AgentConfig): Parameters<Agent['run']>[0] {
  return inputOf({
    model: scripted(...row.script.map(replyTo)),
    evalCase: { ...row.evalCase, metadata: { script: row.script as unknown as Json } },
    suite: suite(config),
    suiteRoot: folder,
    now: () => Date.now(),
  });
}

function replyTo(step: Step): ModelReply {
  if ('answer' in step) return text(step.answer);
  if ('dispatch' in step) return calls(step.dispatch);
  return { ...calls(...step.calls), content: step.said ?? null };
}

/** What an agent outside Assay reports from step `at` on: its own dispatches together with what comes after them. */
function reportOf(script: readonly Step[], at: number): JsonObject {
  const step = script[at];
  if (step === undefined) return {};
  if ('answer' in step) return { answer: step.answer };
  if ('calls' in step) return { pending_calls: step.calls, ...(step.said === undefined ? {} : { answer: step.said }) };
  const { dispatch, made } = step;
  const call = { ...(dispatch as JsonObject), result: made.result };
  return { tool_calls: [call], sub_agents: [made.run], ...reportOf(script, at + 1) };
}

const OPENAI: AgentConfig = { type: 'openai', model: 'm' };
const reference = new Map<string, Trajectory>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'assay-table-'));
  const place = (row: TableRow): string => row.evalCase.id;
  for (const row of TABLE) reference.set(place(row), await make(OPENAI).run(input(row, OPENAI)));
  const records = [...reference].map(([caseId, trajectory]) => JSON.stringify({ caseId, trial: 1, trajectory }));
  writeFileSync(path.join(folder, 'recorded.jsonl'), records.join('\n'));
  // A service that follows the script: how far it is stands in the conversation it is sent.
  service = await startService((body, response) => {
    const { script } = body['metadata'] as { script: Step[] };
    const done = (body['messages'] as { role: string }[]).filter((message) => message.role === 'assistant').length;
    sendJson(response, reportOf(script, done));
  });
  // One that speaks A2A is told no metadata: the script it follows is the one under test.
  const steps = new Map<string, number>();
  remote = await startRemote({
    extensions: [REPORT_EXTENSION],
    behaviour(say, { contextId }) {
      const at = steps.get(contextId) ?? 0;
      const { answer, ...report } = reportOf(following, at);
      steps.set(contextId, at + (report['sub_agents'] === undefined ? 1 : 2));
      const state =
        TaskState[report['pending_calls'] === undefined ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_INPUT_REQUIRED'];
      say.status(state, typeof answer === 'string' ? answer : undefined, [data({ assay_report: report })]);
    },
  });
});
afterAll(async () => {
  for (const agent of agents) await agent.close();
  await Promise.all([service.close(), remote.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Scores as a report has them; how long it took and what it cost are no part of the comparison. */
function scoresOf(row: TableRow, trajectory: Trajectory): unknown[] {
  const scores = scoreTrial({ evalCase: row.evalCase, trajectory, suite: suite(OPENAI), costUsd: null });
  return scores.map(({ scorer, value, passed, violation }) => ({ scorer, value, passed, violation }));
}

const PROGRAM = path.join(import.meta.dirname, 'agent.mjs');
const ADAPTERS: [string, () => AgentConfig][] = [
  ['http', () => httpAgentSchema.parse({ type: 'http', url: service.url })],
  ['command', () => commandAgentSchema.parse({ type: 'command', command: [process.execPath, PROGRAM, 'command'] })],
  ['module', () => ({ type: 'module', path: PROGRAM })],
  ['a2a', () => a2aAgentSchema.parse({ type: 'a2a', card_url: remote.url })],
  ['replay', () => replayAgentSchema.parse({ type: 'replay', trajectories: 'recorded.jsonl' })],
];

test('the table has what it should: at least 20 cases, some of which fail', () => {
  expect(TABLE.length).toBeGreaterThanOrEqual(20);
  const failing = TABLE.filter((row) =>
    JSON.stringify(scoresOf(row, reference.get(row.evalCase.id)!)).includes('"passed":false'),
  );
  expect(failing.length).toBeGreaterThan(4);
});

/** Calls with the rank of their turn: how many turns an answer counts for is the adapter's own. */
function callsOf({ tool_calls }: Trajectory): unknown[] {
  const turns = [...new Set(tool_calls.map((call) => call.turn))];
  return tool_calls.map(({ tool, args, turn, approved, error }) => ({
    tool,
    args,
    turn: turns.indexOf(turn),
    approved,
    error: error?.kind ?? null,
  }));
}

describe.each(ADAPTERS)('%s scores as openai does', (_name, config) => {
  let agent: Agent;
  beforeAll(() => {
    agent = make(config());
  });

  test.each(TABLE.map((row) => [row.evalCase.id, row] as const))('%s', async (id, row) => {
    following = row.script;
    const trajectory = await agent.run(input(row, config()));
    const wanted = reference.get(id)!;
    expect([trajectory.final_status, trajectory.answer]).toEqual([wanted.final_status, wanted.answer]);
    expect(callsOf(trajectory)).toEqual(callsOf(wanted));
    expect(scoresOf(row, trajectory)).toEqual(scoresOf(row, wanted));
  });
});
