import { queryOf } from '../../core/case.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { expectedSegments, promptAsSent } from '../subject/prompt-as-sent.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { BINARY_SCALE } from './scales.ts';

/** Was the prompt put together from the segments the case expects: 0 or 1 (docs/judge.md). */
export const promptAssembly: DimensionSpec = {
  name: 'prompt_assembly',
  ...BINARY_SCALE,
  variables: promptVariables({
    required: ['prompt', 'segments'],
    optional: ['query', 'criteria'],
    fromAgent: ['prompt'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    prompt: promptAsSent(trajectory),
    segments: expectedSegments(evalCase),
    criteria: criteriaOf(evalCase),
  }),
  notRecorded: ({ trajectory }) =>
    promptAsSent(trajectory) === null ? 'the trajectory records no system prompt' : null,
};
