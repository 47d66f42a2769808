// Runs one trial of a command agent that hangs, and is killed by its test: nothing of the agent may be left.
import { createCommandAgent } from '../../../../src/agents/command/command-agent.ts';
import { sleep } from '../../../../src/agents/sleep.ts';
import { commandAgentSchema } from '../../../../src/core/agent-config.schema.ts';
import { inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const [, , program = '', pids = '', mode = 'hang'] = process.argv;
const config = { type: 'command', command: [process.execPath, program], options: { mode, pids, hang: true } };
const agent = createCommandAgent({ sleep, env: process.env, model: null });
await agent.run(
  inputOf({ model: scripted(), suiteRoot: '/', suite: suiteOf({ agent: commandAgentSchema.parse(config) }) }),
);
