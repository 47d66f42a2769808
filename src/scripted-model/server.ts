import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { z } from 'zod';
import { EXIT, UserError } from '../core/errors.ts';
import { answerCompletion } from './answer.ts';
import type { AnswerContext, Control } from './answer.ts';
import { readScript } from './read-script.ts';
import type { Script } from './script.ts';
import { sendBody, sendError } from './send.ts';
import { Statistics } from './statistics.ts';
import type { ScriptedModelStats } from './statistics.ts';

export interface ScriptedModelOptions {
  /** A script in memory; else `scriptPath`. */
  script?: Script;
  scriptPath?: string;
  /** 0 = any free port. Default 0. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** In place of the script's delay_ms, milliseconds. */
  delayMs?: number;
  /** Milliseconds since the epoch; default the clock. */
  now?: () => number;
}

export interface ScriptedModel {
  /** Base URL for OpenAI clients, ends in `/v1`. */
  url: string;
  port: number;
  stats(): ScriptedModelStats;
  /** Closes every connection, open requests included. */
  close(): Promise<void>;
}

/** Longer than any client keeps an idle connection, so that the server never closes one a client is about to use. */
const KEEP_ALIVE_MS = 10 * 60_000;

const controlSchema = z.strictObject({
  delayMs: z.number().min(0).nullable().optional(),
  failStatus: z.int().min(400).max(599).nullable().optional(),
  dropAll: z.boolean().optional(),
});

/**
 * Starts an OpenAI-compatible endpoint that answers by a script: `POST /v1/chat/completions`, `GET /v1/models`, and for
 * tests `GET /stats`, `POST /reset`, `POST /control`. @throws UserError for a bad script or a port that is taken
 */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const script = options.script ?? (options.scriptPath === undefined ? null : await readScript(options.scriptPath));
  if (script === null) throw new UserError('The scripted model needs a script or the path of one.');
  const control: Control = { delayMs: null, failStatus: null, dropAll: false };
  const context: AnswerContext = {
    script: options.delayMs === undefined ? script : { ...script, delay_ms: options.delayMs },
    statistics: new Statistics(),
    control,
    now: options.now ?? Date.now,
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    route(request, response, context);
  });
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, options.port ?? 0, host);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    port,
    stats: () => context.statistics.snapshot(),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES' && error.code !== 'EADDRNOTAVAIL') reject(error);
      else reject(cannotListen(error, port, host));
    });
    server.listen({ port, host, backlog: 2048 }, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The server has no TCP address'));
      else resolve(address.port);
    });
  });
}

function cannotListen(error: NodeJS.ErrnoException, port: number, host: string): UserError {
  return new UserError(`The scripted model cannot listen on ${host}:${port}: ${error.message}`, {
    hint: 'Choose another port, or 0 for any free one.',
    exitCode: EXIT.infrastructure,
    cause: error,
  });
}

function route(request: IncomingMessage, response: ServerResponse, context: AnswerContext): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'POST /v1/chat/completions':
      answerCompletion(request, response, context);
      return;
    case 'GET /v1/models':
      sendBody(response, 200, modelsBody(context.script));
      return;
    case 'GET /stats': {
      const stats = context.statistics.snapshot();
      const body = searchParams.has('by_hash') ? { ...stats, byHash: context.statistics.byHash() } : stats;
      sendBody(response, 200, JSON.stringify(body));
      return;
    }
    case 'POST /reset':
      context.statistics.reset();
      sendBody(response, 200, '{}');
      return;
    case 'POST /control':
      changeControl(request, response, context.control);
      return;
    default:
      sendError(response, 404, `${request.method ?? ''} ${pathname} is not served by the scripted model.`);
  }
}

function modelsBody(script: Script): string {
  const names = new Set([script.model, ...script.rules.flatMap((rule) => rule.when.model ?? [])]);
  const data = [...names].map((id) => ({ id, object: 'model', created: 0, owned_by: 'assay' }));
  return JSON.stringify({ object: 'list', data });
}

function changeControl(request: IncomingMessage, response: ServerResponse, control: Control): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const wanted = controlSchema.safeParse(tryJson(text));
    if (!wanted.success) {
      sendError(response, 400, `Expected {"delayMs"?, "failStatus"?, "dropAll"?}: ${z.prettifyError(wanted.error)}`);
      return;
    }
    if (wanted.data.delayMs !== undefined) control.delayMs = wanted.data.delayMs;
    if (wanted.data.failStatus !== undefined) control.failStatus = wanted.data.failStatus;
    if (wanted.data.dropAll !== undefined) control.dropAll = wanted.data.dropAll;
    sendBody(response, 200, JSON.stringify(control));
  });
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
