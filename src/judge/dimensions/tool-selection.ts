import { queryOf } from '../../core/case.ts';
import { criteriaOf, expectedTools, toolsOnOffer } from '../subject/expectations.ts';
import { callsOf } from '../subject/steps.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { BINARY_SCALE } from './scales.ts';

/** Were the right tools called for what was asked, and no wrong ones: 0 or 1 (docs/judge.md). */
export const toolSelection: DimensionSpec = {
  name: 'tool_selection',
  ...BINARY_SCALE,
  variables: promptVariables({
    required: ['query', 'called'],
    optional: ['available', 'expected', 'criteria'],
    fromAgent: ['called'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    available: toolsOnOffer(trajectory.available_tools),
    called: callsOf(trajectory.tool_calls) ?? 'no tool was called',
    expected: expectedTools(evalCase),
    criteria: criteriaOf(evalCase),
  }),
};
