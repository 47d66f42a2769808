/** Exit codes of every command. */
export const EXIT = { ok: 0, gateFailed: 1, usage: 2, incomplete: 3, infrastructure: 4, interrupted: 130 } as const;

/**
 * An error a user can act on: what is wrong, and how to mend it. Printed without a stack.
 * @param exitCode 2 for wrong usage or input, 4 for infrastructure.
 */
export class UserError extends Error {
  readonly exitCode: number;
  readonly hint: string | null;
  constructor(message: string, options: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UserError';
    this.exitCode = options.exitCode ?? EXIT.usage;
    this.hint = options.hint ?? null;
  }
}

/**
 * An environment variable that the suite names is not set in this process. Other workers may have it, so who reports it
 * says which process this is.
 */
export class MissingVariableError extends UserError {
  /** @param message names the variable and the key of the suite that asks for it; `hint` says what else would do. */
  constructor(message: string, hint?: string) {
    super(message, { exitCode: EXIT.infrastructure, ...(hint === undefined ? {} : { hint }) });
    this.name = 'MissingVariableError';
  }
}

/** A database whose tables are not those that this Assay works with, although no migration is missing. */
export class OtherSchemaError extends UserError {
  /** @param what differs */
  constructor(what: string, cause?: unknown) {
    super(`the database was made by another build of assay (${what})`, {
      hint:
        'use the assay that made it, or start with an empty one: point DATABASE_URL at it; of the embedded Postgres, end ' +
        '`assay up` and remove the folder .assay (ASSAY_HOME), with all its results',
      exitCode: EXIT.infrastructure,
      ...(cause === undefined ? {} : { cause }),
    });
    this.name = 'OtherSchemaError';
  }
}

/** One finding in a file. `line` and `column` are 1-based; 0 = the whole file. */
export interface Problem {
  severity: 'error' | 'warning';
  file: string;
  line: number;
  column: number;
  message: string;
}

/** `file:line:column: severity: message`, the form editors and CI annotate. */
export function formatProblem(problem: Problem): string {
  const place = problem.line > 0 ? `${problem.file}:${problem.line}:${problem.column}` : problem.file;
  return `${place}: ${problem.severity}: ${problem.message}`;
}

/** A file of another form has as many problems as lines. */
export const MOST_PROBLEMS = 100;

/** Invalid input files: every problem at once. The message holds the first hundred and says how many more there are. */
export class InputError extends UserError {
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[], options: { hint?: string } = {}) {
    super(messageOf(problems), options);
    this.name = 'InputError';
    this.problems = problems;
  }
}

function messageOf(problems: readonly Problem[]): string {
  if (problems.length <= MOST_PROBLEMS) return problems.map(formatProblem).join('\n');
  const errors = problems.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, MOST_PROBLEMS);
  const more = problems.length - shown.length;
  return [...shown.map(formatProblem), `and ${more} more problem${more === 1 ? '' : 's'}`].join('\n');
}

/**
 * Why a model call failed. The kind carries the retry rule:
 * - retried: rate_limit, overloaded, server_error, timeout, connection, invalid_reply
 * - stop the evaluation: unauthorized, forbidden, quota, model_not_found, invalid_endpoint (and connection, when the endpoint stays away)
 * - the trial's own: context_length, content_filter (the agent: FAILED; the judge: unscored)
 * - bad_request: the trial is errored, not retried
 * - aborted: the caller gave up (cancel or time cap)
 */
export type ModelErrorKind =
  | 'rate_limit'
  | 'overloaded'
  | 'server_error'
  | 'timeout'
  | 'connection'
  | 'invalid_reply'
  | 'unauthorized'
  | 'forbidden'
  | 'quota'
  | 'model_not_found'
  /** An address no request may be sent to: no endpoint can come up there. */
  | 'invalid_endpoint'
  | 'context_length'
  | 'content_filter'
  | 'bad_request'
  | 'aborted';

export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly status: number | null;
  /** Milliseconds the endpoint asked to wait; null when it said nothing usable. */
  readonly retryAfterMs: number | null;
  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { status?: number | null; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

const RETRIED: ReadonlySet<ModelErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'server_error',
  'timeout',
  'connection',
  'invalid_reply',
]);
const STOPPING: ReadonlySet<ModelErrorKind> = new Set([
  'unauthorized',
  'forbidden',
  'quota',
  'model_not_found',
  'invalid_endpoint',
]);

export function isRetried(kind: ModelErrorKind): boolean {
  return RETRIED.has(kind);
}

/** True for errors every trial would meet: the evaluation stops with one message. */
export function stopsEvaluation(kind: ModelErrorKind): boolean {
  return STOPPING.has(kind);
}
