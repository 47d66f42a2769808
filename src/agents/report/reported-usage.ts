import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { UNKNOWN_USAGE, type Usage } from '../../core/trajectory.ts';
import { readUsage } from '../openai/read-completion.ts';

/**
 * Tokens as an agent reports them: `{input, cached, output, reasoning, total}`, OpenAI's `{prompt_tokens, …}`, or
 * `{input_tokens, output_tokens, …}`. What is missing or no count is unknown; the total is the sum where it can be.
 */
export function readReportedUsage(value: Json | undefined): Usage {
  if (!isJsonObject(value)) return UNKNOWN_USAGE;
  if ('prompt_tokens' in value || 'completion_tokens' in value) return readUsage(value);
  const input = count(value, 'input', 'input_tokens');
  const output = count(value, 'output', 'output_tokens');
  const sum = input === null || output === null ? null : input + output;
  return {
    input,
    cached: count(value, 'cached', 'cache_read_input_tokens'),
    output,
    reasoning: count(value, 'reasoning', 'reasoning_tokens'),
    total: count(value, 'total', 'total_tokens') ?? sum,
  };
}

function count(usage: JsonObject, ...names: string[]): number | null {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}
