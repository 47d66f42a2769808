import type { EvalCase } from '../../core/case.ts';
import { deepEqual } from '../../core/deep-equal.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';
import { textOf } from './message-text.ts';

type Case = Pick<EvalCase, 'context' | 'messages'>;

/**
 * How many of the recorded messages, from the first on, the case itself brought along (`context.memory`, `messages`): what an
 * assistant says and calls there is not the agent's. 0 where the recording begins otherwise, or ends there.
 */
export function countGiven(recorded: readonly Json[], evalCase: Case): number {
  const memory = (evalCase.context?.memory ?? []) as unknown as Json[];
  const own = (evalCase.messages ?? []) as unknown as Json[];
  return countLeading(recorded, [...memory, ...own]) || countLeading(recorded, own);
}

function countLeading(recorded: readonly Json[], given: readonly Json[]): number {
  const wanted = given.filter((message) => !isInstruction(message));
  if (!wanted.some((message) => roleOf(message) === 'assistant')) return 0;
  let found = 0;
  let at = 0;
  for (; at < recorded.length && found < wanted.length; at += 1) {
    const message = recorded[at] ?? null;
    if (isInstruction(message)) continue;
    if (!isSame(message, wanted[found] ?? null)) return 0;
    found += 1;
  }
  const answered = recorded.slice(at).some((message) => roleOf(message) === 'assistant');
  return found === wanted.length && answered ? at : 0;
}

function isInstruction(message: Json): boolean {
  const role = roleOf(message);
  return role === 'system' || role === 'developer';
}

function roleOf(message: Json): Json {
  return isJsonObject(message) ? (message['role'] ?? null) : null;
}

function isSame(a: Json, b: Json): boolean {
  if (!isJsonObject(a) || !isJsonObject(b) || a['role'] !== b['role']) return false;
  const said = (message: typeof a): string => textOf(message['content'] ?? null) ?? '';
  const called = (message: typeof a): Json => message['tool_calls'] ?? [];
  return deepEqual(said(a), said(b)) && deepEqual(called(a), called(b));
}
