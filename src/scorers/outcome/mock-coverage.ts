import type { Scorer } from '../scorer.ts';

/**
 * `mock_coverage`: calls the mock world had an answer for ÷ calls. Given only where a call had none: then a fixture is
 * missing, or the agent called what nobody foresaw. Informative unless the suite's `decides` names it.
 */
export const mockCoverage: Scorer = ({ trajectory }) => {
  const { unmatched_calls: unmatched, tool_calls: calls } = trajectory;
  if (unmatched.length === 0) return [];
  const tools = new Map<string, number>();
  for (const { tool } of unmatched) tools.set(tool, (tools.get(tool) ?? 0) + 1);
  const listed = unmatched.map(({ index, tool }) => `\`${tool}\` (call ${index + 1})`).join(', ');
  return [
    {
      scorer: 'mock_coverage',
      dimension: null,
      value: Math.max(0, 1 - unmatched.length / Math.max(1, calls.length)),
      passed: false,
      reason: `no mock answered ${listed}`,
      details: { tools: [...tools].map(([tool, count]) => ({ tool, calls: count })) },
    },
  ];
};
