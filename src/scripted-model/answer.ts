import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { matchRule } from './match.ts';
import type { Match } from './match.ts';
import { buildCompletion } from './reply.ts';
import { viewRequest } from './request-view.ts';
import type { RequestView } from './request-view.ts';
import type { Reply, Script } from './script.ts';
import { sendError, sendReply, statusOf, usageTold } from './send.ts';
import type { Statistics } from './statistics.ts';

/** Changed while the server runs, by `POST /control`; null = as scripted. */
export interface Control {
  /** Delay of every reply, milliseconds. */
  delayMs: number | null;
  /** Every call is answered with this status. */
  failStatus: number | null;
  /** Every call's connection is closed on arrival. */
  dropAll: boolean;
}

export interface AnswerContext {
  script: Script;
  statistics: Statistics;
  control: Control;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Bodies larger than this are refused with 413. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Answers `POST /v1/chat/completions` by the script, and counts it on arrival and at its end. */
export function answerCompletion(request: IncomingMessage, response: ServerResponse, context: AnswerContext): void {
  const { statistics, control } = context;
  const told: { requestHash: string | null; usage: JsonObject | null } = { requestHash: null, usage: null };
  statistics.arrived();
  response.once('close', () => {
    statistics.ended({ whole: response.writableFinished, status: response.statusCode, ...told });
  });
  if (control.dropAll) {
    response.destroy();
    return;
  }
  readBody(request, (body) => {
    if (body === null) {
      sendError(response, 413, `The request is larger than ${MAX_BODY_BYTES} bytes.`);
      return;
    }
    const requestHash = hash('sha256', body, 'hex').slice(0, 24);
    const parsed = parseBody(body);
    if (parsed === null) {
      sendError(response, 400, 'The request body is not a JSON object.');
      return;
    }
    const view = viewRequest(parsed);
    const match = matchRule(context.script, view);
    if (match === null) {
      statistics.unmatched();
      sendError(response, 400, noRule(context.script, view), 'no_rule');
      return;
    }
    statistics.matched(match.rule.name, requestHash, match.rule.allow_repeat);
    const reply = chooseReply(match, requestHash, context);
    told.requestHash = requestHash;
    respond(response, reply, { match, view, requestHash, told }, context);
  });
}

function chooseReply(match: Match, requestHash: string, context: AnswerContext): Reply {
  const { replies, name } = match.rule;
  const { failStatus } = context.control;
  if (failStatus !== null) return { status: failStatus };
  const index = replies.length === 1 ? 0 : Math.min(context.statistics.use(name, requestHash), replies.length - 1);
  const reply = replies[index];
  if (reply === undefined) throw new Error(`Rule ${name} has no reply`);
  return reply;
}

function respond(
  response: ServerResponse,
  reply: Reply,
  matched: { match: Match; view: RequestView; requestHash: string; told: { usage: JsonObject | null } },
  context: AnswerContext,
): void {
  const { match, view, requestHash, told } = matched;
  const wait = (ms: number, then: () => void): void => {
    const timer = setTimeout(then, ms);
    response.once('close', () => clearTimeout(timer));
  };
  const send = (): void => {
    if (reply.drop === 'before') {
      response.destroy();
      return;
    }
    const completion = buildCompletion(reply, { script: context.script, match, request: view, requestHash });
    told.usage = usageTold(reply, completion, view.stream, view.includeUsage);
    const createdS = Math.floor(context.now() / 1000);
    sendReply(response, reply, completion, { stream: view.stream, includeUsage: view.includeUsage, createdS, wait });
  };
  if (reply.hang === true) return;
  const unstreamed = view.stream && statusOf(reply) < 400 ? 0 : (reply.first_token_delay_ms ?? 0);
  const delayMs = (context.control.delayMs ?? reply.delay_ms ?? context.script.delay_ms) + unstreamed;
  if (delayMs > 0) wait(delayMs, send);
  else send();
}

function readBody(request: IncomingMessage, then: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  });
  request.on('end', () => then(size > MAX_BODY_BYTES ? null : Buffer.concat(chunks)));
}

function parseBody(body: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function noRule(script: Script, view: RequestView): string {
  const asked = view.lastUser.length > 200 ? `${view.lastUser.slice(0, 200)}…` : view.lastUser;
  const after = view.afterTool === null ? '' : `, after a result of ${view.afterTool}`;
  return (
    `No rule of ${script.file ?? 'the script'} matches this request (turn ${view.turn}${after}); ` +
    `its last user message is ${JSON.stringify(asked)}. Add a rule, or a default.`
  );
}
