import type { ChatMessage, EvalCase, ToolDefinition } from '../../core/case.ts';
import type { Suite } from '../../core/suite.ts';
import type { PromptSegment } from '../../core/trajectory.ts';
import { assemblePrompt, systemText } from './prompt-segments.ts';

/** What an agent is given: the messages to begin with, and the user turns that follow one by one. */
export interface Conversation {
  messages: ChatMessage[];
  turns: string[];
}

/**
 * The conversation of a case: one system message (see {@link assemblePrompt}), the memory, the case's messages, its input,
 * and the first of its turns; the other turns are sent one after each answer. Nothing names the case.
 */
export function conversationOf(
  evalCase: EvalCase,
  systemPrompt: string | undefined,
  segments: readonly PromptSegment[] = assemblePrompt(
    evalCase,
    systemPrompt === undefined ? {} : { system_prompt: systemPrompt },
    null,
  ),
): Conversation {
  const { context } = evalCase;
  const system = systemText(segments);
  const [first, ...turns] = evalCase.turns ?? [];
  return {
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...(context?.memory ?? []),
      ...(evalCase.messages ?? []),
      ...(evalCase.input === undefined ? [] : [userMessage(evalCase.input)]),
      ...(first === undefined ? [] : [userMessage(first)]),
    ],
    turns,
  };
}

export function userMessage(content: string): ChatMessage {
  return { role: 'user', content };
}

/**
 * The tools offered to the agent in a case: the case's own list, where a name stands for the suite's tool of that name,
 * else every tool of the suite. A name the suite does not define is offered without description.
 */
export function toolsOf(evalCase: EvalCase, suite: Pick<Suite, 'tools'>): ToolDefinition[] {
  if (evalCase.tools === undefined) return suite.tools;
  return evalCase.tools.map((tool) =>
    typeof tool === 'string' ? (suite.tools.find((candidate) => candidate.name === tool) ?? { name: tool }) : tool,
  );
}
