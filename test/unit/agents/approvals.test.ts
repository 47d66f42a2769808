import { expect, test } from 'vitest';
import { createApprovals } from '../../../src/agents/mock/approvals.ts';
import type { ToolCall } from '../../../src/core/trajectory.ts';

const approval = (part: Partial<ToolCall> = {}): ToolCall => ({
  index: 0,
  turn: 0,
  id: null,
  tool: 'request_approval',
  args: {},
  raw_arguments: null,
  malformed: null,
  result: { approved: true },
  error: null,
  approved: null,
  started_at_ms: 0,
  ended_at_ms: 0,
  ...part,
});

const covered = (call: ToolCall, tool: string, turn: number): boolean | null => {
  const approvals = createApprovals({ high_risk_tools: ['refund', 'delete'] });
  approvals.note(call);
  return approvals.covers(tool, turn);
};

test.each<[string, ToolCall, string, number, boolean | null]>([
  ['an earlier turn', approval(), 'refund', 1, true],
  ['the same turn, though it ended before', approval(), 'refund', 0, false],
  ['a tool that needs none', approval(), 'get_order', 1, null],
  ['no word of approval in the result is approval', approval({ result: 'fine' }), 'refund', 1, true],
  ['an error', approval({ error: { kind: 'timeout', message: '' } }), 'refund', 1, false],
  ['a malformed request', approval({ args: null, malformed: 'broken' }), 'refund', 1, false],
  ['refused', approval({ result: { approved: false } }), 'refund', 1, false],
  ['refused in words', approval({ result: { status: 'Refused' } }), 'refund', 1, false],
  ['refused in a text of JSON', approval({ result: '{"approved": false}' }), 'refund', 1, false],
  ['of that tool', approval({ args: { tool: 'refund' } }), 'refund', 1, true],
  ['of another tool', approval({ args: { tool: 'delete' } }), 'refund', 1, false],
  ['of something that is no high-risk tool', approval({ args: { tool: 'order 88' } }), 'refund', 1, true],
  ['another tool', approval({ tool: 'get_order' }), 'refund', 1, false],
])('approval: %s', (_name, call, tool, turn, expected) => {
  expect(covered(call, tool, turn)).toBe(expected);
});
