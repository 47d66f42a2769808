import type { Scorer } from '../scorer.ts';

/** `expected.calls_per_tool`: how often each named tool is called, between `min` (default 0) and `max` (default no limit). */
export const callsPerTool: Scorer = ({ evalCase, trajectory }) => {
  const bounds = Object.entries(evalCase.expected.calls_per_tool ?? {});
  if (bounds.length === 0) return [];
  const wrong = bounds.flatMap(([tool, { min = 0, max = Infinity }]) => {
    const made = trajectory.tool_calls.filter((call) => call.tool === tool).length;
    if (made >= min && made <= max) return [];
    const wanted = made < min ? `at least ${min}` : `at most ${max}`;
    return [{ tool, made, text: `\`${tool}\`: wanted ${wanted} calls, got ${made}` }];
  });
  return [
    {
      scorer: 'calls_per_tool',
      dimension: null,
      value: (bounds.length - wrong.length) / bounds.length,
      passed: wrong.length === 0,
      reason:
        wrong.length === 0 ? 'every tool was called as often as allowed' : wrong.map(({ text }) => text).join('; '),
      details: { wrong: wrong.map(({ tool, made }) => ({ tool, made })) },
    },
  ];
};
