import type { ChatMessage, EvalCase, RagDocument, ToolDefinition } from '../../core/case.ts';
import type { Suite } from '../../core/suite.ts';

/** What an agent is given: the messages to begin with, and the user turns that follow one by one. */
export interface Conversation {
  messages: ChatMessage[];
  turns: string[];
}

/**
 * The conversation of a case: one system message (the agent's prompt, the case's prompt segments, its documents), the
 * memory, the case's messages, its input, and the first of its turns; the other turns are sent one after each answer.
 * Nothing names the case.
 */
export function conversationOf(evalCase: EvalCase, systemPrompt: string | undefined): Conversation {
  const { context } = evalCase;
  const segments = context?.prompt_segments?.map((segment) => segment.text) ?? [];
  const parts = [systemPrompt ?? '', ...segments, documentsText(context?.documents ?? [])];
  const system = parts.filter((part) => part.trim() !== '').join('\n\n');
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

function documentsText(documents: RagDocument[]): string {
  if (documents.length === 0) return '';
  const texts = documents.map(({ id, title, text }) => `[${id}]${title === undefined ? '' : ` ${title}`}\n${text}`);
  return ['Documents:', ...texts].join('\n\n');
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
