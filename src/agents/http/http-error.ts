import { ModelError, UserError } from '../../core/errors.ts';
import { BodyTooLargeError } from '../guarded-http/guarded-fetch.ts';
import { withoutKey } from '../mask-key.ts';
import { classifyFailure, connectionText, socketError } from '../openai/model-error.ts';
import { parseRetryAfter, parseShouldRetry } from '../openai/retry-after.ts';

/** The agent's reply is not what it promised: its own fault, and data of the trial. */
export class AgentReplyError extends Error {}

/** What is needed to name a failed request. */
export interface RequestFacts {
  /** Address without its query. */
  place: string;
  secret: string | null;
}

/** The error for a reply with a status of 400 or more. Its kind carries the retry rule. */
export function statusError(response: Response, body: string, facts: RequestFacts): ModelError {
  const { status, headers } = response;
  const classified = classifyFailure({ status, text: body, shouldRetry: parseShouldRetry(headers) });
  // A 404 of an endpoint of models is a wrong model; here it is a wrong address, for every trial alike.
  const kind = classified === 'model_not_found' ? 'invalid_endpoint' : classified;
  const advice = ADVICE[kind] === undefined ? '' : `. ${ADVICE[kind]}`;
  const text = withoutKey(body.replaceAll(/\s+/g, ' ').trim().slice(0, 500), facts.secret);
  return new ModelError(kind, `agent ${facts.place}: ${status} ${text}${advice}`, {
    status,
    retryAfterMs: parseRetryAfter(headers, Date.now()),
  });
}

const ADVICE: Record<string, string> = {
  unauthorized: 'Set a valid secret in the variable that agent.auth_env names.',
  forbidden: 'The secret in the variable of agent.auth_env may not be used for this.',
  invalid_endpoint: 'Check agent.url in the suite.',
};

/** The error for a request that got no whole reply. Errors of other kinds (a blocked address, an abort) are passed on. */
export function connectionError(error: unknown, facts: RequestFacts): unknown {
  if (error instanceof BodyTooLargeError) return new AgentReplyError(error.message);
  // A blocked address says what it is.
  if (error instanceof ModelError || error instanceof UserError) return error;
  if (error instanceof Error && /^(Abort|Timeout)Error$/.test(error.name)) return error;
  const text = withoutKey(connectionText(error), facts.secret);
  const message = `agent ${facts.place}: ${text}. Check that it runs and that agent.url is right.`;
  return new ModelError('connection', message, { cause: socketError(error) });
}
