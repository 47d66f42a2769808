import { exceeds } from '../../core/score.ts';
import { listed } from '../values/preview.ts';
import type { Scorer } from '../scorer.ts';

/** Share of `expected.must_call` tools the main agent called; a malformed call is not one. */
export const mustCall: Scorer = ({ evalCase, trajectory }) => {
  const wanted = [...new Set(evalCase.expected.must_call ?? [])];
  if (wanted.length === 0) return [];
  const called = new Set(trajectory.tool_calls.filter((call) => call.malformed === null).map((call) => call.tool));
  const missing = wanted.filter((tool) => !called.has(tool));
  const value = (wanted.length - missing.length) / wanted.length;
  const made = called.size === 0 ? 'no tool was called' : `called: ${listed([...called])}`;
  return [
    {
      scorer: 'must_call',
      dimension: null,
      value,
      passed: !exceeds(1, value),
      reason: missing.length === 0 ? `${listed(wanted)} called` : `never called: ${listed(missing)}; ${made}`,
      details: { missing },
    },
  ];
};
