/** A parent that runs a looping module until it is killed: `parent.ts FILE`; the module writes its pids to FILE. */
import { createAgent } from '../../../../src/agents/index.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';

const config = {
  type: 'module',
  path: 'agent.ts',
  export: 'loopsWithChild',
  options: { file: process.argv[2] ?? '' },
} as const;
await createAgent(config).run(
  inputOf({ model: scripted(), evalCase: caseOf(), suite: suiteOf({ agent: config }), suiteRoot: import.meta.dirname }),
);
