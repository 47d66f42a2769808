/** What makes two evaluations comparable beside their cases. Null = there is none (no judge), or it is not known. */
export interface BaselineFacts {
  /** Hash of the agent's prompt. */
  prompt_hash: string | null;
  judge_model: string | null;
  /** Hash over the judge's prompts. */
  judge_prompt_hash: string | null;
}

const FACTS: readonly { key: keyof BaselineFacts; name: string }[] = [
  { key: 'prompt_hash', name: 'agent prompt' },
  { key: 'judge_model', name: 'judge model' },
  { key: 'judge_prompt_hash', name: 'judge prompt' },
];

/** What changed since the baseline was run, in words; empty when it is not stale. */
export function staleReasons(baseline: BaselineFacts, current: BaselineFacts): string[] {
  const short = (value: string | null): string =>
    value === null ? 'none' : value.length > 24 ? value.slice(0, 8) : value;
  return FACTS.filter(({ key }) => baseline[key] !== current[key]).map(
    ({ key, name }) => `${name} changed: ${short(baseline[key])} → ${short(current[key])}`,
  );
}
