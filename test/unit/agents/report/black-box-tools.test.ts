import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosableAgent, createAgent } from '../../../../src/agents/index.ts';
import { REPORT_EXTENSION } from '../../../../src/agents/a2a/remote-parts.ts';
import { a2aAgentSchema, a2aToolSchema } from '../../../../src/core/a2a-config.schema.ts';
import { commandAgentSchema, httpAgentSchema } from '../../../../src/core/agent-config.schema.ts';
import type { CaseMock, ToolDefinition } from '../../../../src/core/case.ts';
import type { Json } from '../../../../src/core/json.ts';
import type { AgentConfig, McpServerConfig } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { eventually } from '../../../e2e/support/program.ts';
import { data, type Remote, startRemote } from '../a2a/remote-agent-fixture.ts';
import { startService, type Service } from '../http/service.ts';
import { sendJson } from '../http-endpoint.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';
import { isRunning } from '../is-running.ts';

const CALLS = [
  { id: 'a', tool: 'get_order', args: { order: 7 } },
  { id: 'b', tool: 'processes', args: {} },
  { id: 'c', tool: 'warehouse', args: { message: 'is it there?' } },
  { id: 'd', tool: 'count', args: {} },
];
/** What the calls are answered with: an MCP server, the remote agent, and a fixture in the place of the server. */
const MOCK: CaseMock = { tools: [{ tool: 'count', replies: [{ result: 'cut in two', fail: { kind: 'truncated' } }] }] };
const MCP: McpServerConfig = {
  name: 'orders',
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, '../mcp/server.ts')],
  tools: ['get_order', 'processes', 'count'],
  mode: 'live',
  timeout_ms: 10_000,
};

let folder = '';
let warehouse: Remote;
let service: Service;
let remote: Remote;
let tools: ToolDefinition[];
/** Tools each agent was told of. */
const told = new Map<string, ToolDefinition[]>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'assay-black-box-'));
  warehouse = await startRemote({ behaviour: (say) => say.status(TaskState.TASK_STATE_COMPLETED, 'two left') });
  tools = [{ name: 'warehouse', a2a: a2aToolSchema.parse({ card_url: warehouse.url }) }];
  service = await startService((body, response) => {
    told.set('http', body['tools'] as ToolDefinition[]);
    const results = body['tool_results'] as Json[];
    sendJson(response, results.length === 0 ? { pending_calls: CALLS } : { answer: JSON.stringify(results) });
  });
  remote = await startRemote({
    extensions: [REPORT_EXTENSION],
    behaviour(say, { userMessage }) {
      const values = userMessage.parts.map((part) => part.content?.value as Record<string, Json>);
      const results = values[0]?.['assay_tool_results'];
      if (results !== undefined) return say.status(TaskState.TASK_STATE_COMPLETED, JSON.stringify(results));
      told.set('a2a', (values[1]?.['assay_case'] as { tools?: unknown } | undefined)?.tools as ToolDefinition[]);
      say.status(TaskState.TASK_STATE_INPUT_REQUIRED, undefined, [data({ assay_report: { pending_calls: CALLS } })]);
    },
  });
  writeFileSync(
    path.join(folder, 'program.mjs'),
    `import { createInterface } from 'node:readline';
     const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
     const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
     const { tools } = JSON.parse((await lines.next()).value);
     say({ type: 'tool_calls', calls: ${JSON.stringify(CALLS)} });
     const { results } = JSON.parse((await lines.next()).value);
     say({ type: 'result', answer: JSON.stringify(results), plan: tools.map((tool) => JSON.stringify(tool)) });
     process.exit(0);`,
  );
});
afterAll(async () => {
  await Promise.all([warehouse.close(), remote.close(), service.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const AGENTS: [string, () => AgentConfig][] = [
  ['http', () => httpAgentSchema.parse({ type: 'http', url: service.url })],
  ['command', () => commandAgentSchema.parse({ type: 'command', command: [process.execPath, 'program.mjs'] })],
  ['a2a', () => a2aAgentSchema.parse({ type: 'a2a', card_url: remote.url })],
];

describe.each(AGENTS)('%s', (name, config) => {
  async function run(): Promise<Trajectory> {
    const agent: ClosableAgent = createAgent(config(), { suiteRoot: folder, env: { PATH: process.env['PATH'] } });
    try {
      return await agent.run(
        inputOf({
          model: scripted(),
          evalCase: caseOf({ mock: MOCK }),
          suite: suiteOf({ agent: config(), tools, mcp: [MCP] }),
          suiteRoot: folder,
        }),
      );
    } finally {
      await agent.close();
    }
  }

  test('tools of MCP servers and of remote agents are offered, answered and recorded; the server ends with the trial', async () => {
    const trajectory = await run();
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', unmatched_calls: [] });
    const [order, processes, remoteCall, count] = trajectory.tool_calls;
    expect(order).toMatchObject({ tool: 'get_order', result: { id: 7, by: '-' }, error: null });
    expect(remoteCall).toMatchObject({ tool: 'warehouse', result: { state: 'completed', text: 'two left' } });
    expect(count).toMatchObject({ error: { kind: 'truncated' } });
    const offered = trajectory.available_tools.map((tool) => tool.name);
    expect(offered).toEqual(['warehouse', 'get_order', 'count', 'processes']);
    // Where the remote agent is, is none of the agent's business.
    const shown = told.get(name) ?? (trajectory.plan ?? []).map((tool) => JSON.parse(tool) as ToolDefinition);
    expect(shown.map((tool) => tool.name)).toEqual(offered);
    expect(shown[0]).toMatchObject({ parameters: { required: ['message'] } });
    expect(JSON.stringify(shown)).not.toContain('card_url');
    const pids = JSON.stringify(processes?.result).replaceAll('"', '').split(' ').map(Number);
    await eventually('the server to end', () => Promise.resolve(!pids.some(isRunning)));
  });

  test('a broken answer reaches the agent as it came', async () => {
    const { answer } = await run();
    const results = JSON.parse(answer ?? '[]') as Json[];
    expect(results[3]).toEqual({ id: 'd', tool: 'count', result: '"cut i' });
  });
});
