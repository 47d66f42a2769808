import { A2AError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { ModelError, UserError } from '../../core/errors.ts';
import { BodyTooLargeError } from '../guarded-http/guarded-fetch.ts';
import { withoutKey } from '../mask-key.ts';

/**
 * The agent does not know a task any more. One it had named itself was lost with it: infrastructure, and the work is done
 * anew.
 */
export class ForgottenTaskError extends ModelError {}

/** What a failed exchange with a remote agent means: the agent's own failure (data), or an error to throw. */
export type RemoteFailure = { failed: string } | { thrown: Error };

/**
 * Sorts what the A2A client threw. An error the agent reported, or a reply too long to be read, is its own failure;
 * addresses nobody may be sent to stop the evaluation; a lost connection and an unreadable reply are tried again.
 * @param secret removed from every text, should the agent echo it
 */
export function remoteFailure(error: unknown, where: string, secret: string | null): RemoteFailure {
  for (const cause of causes(error)) {
    if (cause instanceof UserError || cause instanceof ModelError) return { thrown: cause };
    if (cause instanceof BodyTooLargeError) return { failed: cause.message };
  }
  for (const cause of causes(error)) {
    if (cause instanceof TaskNotFoundError) {
      const message = `A2A agent ${where} has forgotten its task: ${withoutKey(cause.message, secret)}`;
      return { thrown: new ForgottenTaskError('server_error', message, { cause: error }) };
    }
    if (cause instanceof A2AError) {
      return { failed: `the agent answered with an error: ${withoutKey(cause.message, secret)}` };
    }
  }
  const message = withoutKey(lastMessage(error), secret);
  const kind = isUnreadable(error) ? 'invalid_reply' : 'connection';
  const advice = kind === 'connection' ? '. Check that it runs, and that its card names the right address.' : '';
  return { thrown: new ModelError(kind, `A2A agent ${where}: ${message}${advice}`, { cause: error }) };
}

function isUnreadable(error: unknown): boolean {
  return causes(error).some(
    (cause) => cause instanceof SyntaxError || /JSON|SSE|Content-Type/.test((cause as Error).message),
  );
}

/** The error and what caused it, outermost first. */
function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 10; cause = cause.cause) chain.push(cause);
  return chain;
}

/** The innermost message says what happened; outer ones say that something did. */
function lastMessage(error: unknown): string {
  const last = causes(error).at(-1);
  if (!(last instanceof Error)) return String(error);
  const inner = last instanceof AggregateError ? (last.errors[0] as Error | undefined) : undefined;
  return inner?.message ?? (last.message === '' ? last.name : last.message);
}
