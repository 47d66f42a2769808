import type { EvalCase } from '../../core/case.ts';

/** The texts of the case's own input: what the user says and what was said before. Documents and tool results are not among them. */
export function queryParts({ input, turns, messages, context }: EvalCase): string[] {
  const said = [...(context?.memory ?? []), ...(messages ?? [])].flatMap(({ content }) => content ?? []);
  return [...(input === undefined ? [] : [input]), ...(turns ?? []), ...said];
}
