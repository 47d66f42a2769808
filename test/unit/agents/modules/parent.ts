/** A process that runs one trial of a module and prints its answer: `parent.ts EXPORT FILE`. */
import { createAgent } from '../../../../src/agents/index.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const [, , exportName = 'default', file = ''] = process.argv;
const config = { type: 'module', path: 'agent.ts', export: exportName, options: { file } } as const;
const trajectory = await createAgent(config, { env: process.env }).run(
  inputOf({ model: scripted(), evalCase: caseOf(), suite: suiteOf({ agent: config }), suiteRoot: import.meta.dirname }),
);
process.stdout.write(trajectory.answer ?? '');
