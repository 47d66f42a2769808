// Runs one trial whose MCP server hangs, and is killed by its test: nothing of the server may be left.
import { writeFileSync } from 'node:fs';
import { createMcpTools } from '../../../../src/agents/mcp/mcp-tools.ts';
import { createOpenAiAgent } from '../../../../src/agents/openai/openai-agent.ts';
import { call, calls, inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const [, , server = '', pids = ''] = process.argv;
const model = scripted(calls(call('processes', {})), (request) => {
  writeFileSync(pids, request.messages.at(-1)?.content ?? '');
  return calls(call('hang', {}));
});
await createOpenAiAgent({ sources: [createMcpTools({ env: process.env })] }).run(
  inputOf({
    model,
    suiteRoot: '/',
    suite: suiteOf({
      tools: [],
      mcp: [{ name: 'orders', command: process.execPath, args: [server], mode: 'live', timeout_ms: 60_000 }],
    }),
  }),
);
