import type { ChatMessage, EvalCase } from '../../core/case.ts';
import { queryOf } from '../../core/case.ts';
import type { Trajectory } from '../../core/trajectory.ts';

/** The user's last words in this trial: of a dialogue the last turn, else the query. */
export function lastQuery(evalCase: EvalCase): string {
  return evalCase.turns?.at(-1) ?? queryOf(evalCase);
}

/**
 * What was said before the user's last words: the case's memory and messages as the case has them, and of a dialogue the
 * earlier turns with the agent's answers to them. Null = nothing.
 */
export function historyOf(evalCase: EvalCase, trajectory: Trajectory): string | null {
  const given = [...(evalCase.context?.memory ?? []), ...earlierMessages(evalCase)];
  const lines = [...given, ...earlierTurns(evalCase, trajectory)].flatMap(({ role, content }) =>
    content === null || content.trim() === '' ? [] : `${role}: ${content}`,
  );
  return lines.length === 0 ? null : lines.join('\n');
}

/** The case's messages but for the user's last one, which is the query where there are no turns. */
function earlierMessages({ input, messages = [], turns }: EvalCase): ChatMessage[] {
  const spoken = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  if (input !== undefined || turns !== undefined) return spoken;
  const last = spoken.findLastIndex(({ role }) => role === 'user');
  return spoken.filter((_message, at) => at !== last);
}

/** Found from the end, where the last turn stands: what is before it and not yet given by the case is the dialogue. */
function earlierTurns({ turns = [] }: EvalCase, trajectory: Trajectory): ChatMessage[] {
  if (turns.length < 2) return [];
  const spoken = trajectory.messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const end = spoken.findLastIndex(({ role, content }) => role === 'user' && content === turns.at(-1));
  const start = spoken.findIndex(({ role, content }) => role === 'user' && content === turns[0]);
  if (start !== -1 && start < end) return spoken.slice(start, end);
  // An agent that does not report its conversation, or did not come to the last turn: what the user said is known.
  return turns.slice(0, -1).map((content) => ({ role: 'user', content }));
}
