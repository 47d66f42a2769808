import { queryOf } from '../../core/case.ts';
import { contradictions } from '../contradiction.ts';
import type { Fields } from '../fields.ts';
import { criteriaOf, toolsOnOffer } from '../subject/expectations.ts';
import { stepsOf, subAgentSteps } from '../subject/steps.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimension.ts';
import type { DimensionSpec, Reading } from './dimension.ts';

/** The whole trial against the case's rubric: task_success 0 or 1 is the value, three parts in 0..1 stand beside it (docs/judge.md). */
export const trajectory: DimensionSpec = {
  name: 'trajectory',
  scale: 'binary',
  passesAt: 1,
  variables: promptVariables({
    required: ['query', 'rubric', 'steps', 'answer'],
    optional: ['available', 'min_steps', 'sub_steps'],
    fromAgent: ['steps', 'sub_steps', 'answer'],
  }),
  content: ({ evalCase, trajectory: made }) => ({
    query: queryOf(evalCase),
    rubric: evalCase.rubric ?? criteriaOf(evalCase) ?? evalCase.expected.answer ?? null,
    available: toolsOnOffer(made.available_tools),
    min_steps: evalCase.min_steps === undefined ? null : String(evalCase.min_steps),
    steps: stepsOf(made),
    sub_steps: subAgentSteps(made.sub_agents),
    answer: made.answer,
  }),
  replySchema: closedObject({
    task_success: REPLY_PART.binary,
    tool_selection_score: REPLY_PART.unit,
    argument_correctness_score: REPLY_PART.unit,
    efficiency_score: REPLY_PART.unit,
    failure_reason: REPLY_PART.textOrNull,
  }),
  read,
};

function read(fields: Fields): Reading {
  const parts = {
    task_success: fields.binary('task_success'),
    tool_selection_score: fields.number('tool_selection_score', 0, 1),
    argument_correctness_score: fields.number('argument_correctness_score', 0, 1),
    efficiency_score: fields.number('efficiency_score', 0, 1),
  };
  const decided = { value: parts.task_success, passed: parts.task_success === 1 };
  const failure = fields.text('failure_reason');
  const named = failure === null || failure.trim() === '' ? null : failure;
  return {
    ...decided,
    reason: named ?? (decided.passed ? 'every rule of the rubric is met' : null),
    parsed: parts,
    flags: contradictions(fields, decided, []),
  };
}
