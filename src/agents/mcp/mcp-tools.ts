import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { type CallToolResult, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { ToolDefinition } from '../../core/case.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import { ModelError, UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { maskSecrets } from '../../core/masked-secret.ts';
import type { McpServerConfig } from '../../core/suite.ts';
import type { AgentInput } from '../agent.ts';
import { fixturesOf } from '../mock/mock-fixtures.ts';
import type { ToolOutcome } from '../mock/mock-world.ts';
import { abortError } from '../sleep.ts';
import type { ToolHandler } from '../tool-router.ts';
import type { OpenToolSource, ToolSource } from '../trial-world.ts';
import { connectServer, type McpConnection, ServerEndedError } from './connect-server.ts';
import {
  createRecordingWriter,
  createReplay,
  readRecording,
  type RecordedAnswer,
  type Recording,
  type RecordingWriter,
} from './recording.ts';

export interface McpOptions {
  /** Environment that `env` and `token_env` of a server are looked up in. */
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The tools of a suite's MCP servers. Each trial has a connection (of a stdio server: a process) of its own, which ends
 * with it. Servers in `replay` are not touched. A server that does not start is infrastructure (a program that only ever
 * ended at its start is the user's to mend); one that goes away in a trial, refuses or is too slow is an error of the tool.
 */
export function createMcpTools(options: McpOptions): OpenToolSource {
  const recordings = new Map<string, Promise<Recording>>();
  const writers = new Map<string, RecordingWriter>();
  const connect = countedStarts(options);
  return async (input) => {
    const parts: ToolSource[] = [];
    const close = async (): Promise<void> => {
      await Promise.all(parts.map((part) => part.close()));
    };
    try {
      for (const [index, server] of (input.suite.mcp ?? []).entries()) {
        const key = `mcp[${index}]`;
        const path = server.recording === undefined ? null : resolve(input.suiteRoot, server.recording);
        if (server.mode === 'replay' && path !== null) {
          const reading = recordings.get(path) ?? readRecording(path);
          recordings.set(path, reading);
          parts.push(replayed({ server, key }, await reading, input.evalCase.id));
          continue;
        }
        const writer =
          server.mode === 'record' && path !== null ? (writers.get(path) ?? createRecordingWriter(path)) : null;
        if (writer !== null && path !== null) writers.set(path, writer);
        parts.push(await connected({ server, key, connect }, input, writer));
      }
    } catch (error) {
      await close();
      throw error;
    }
    // What a fixture answers is simulated, for the failures a real server cannot be asked for. Of one name the first server
    // answers.
    const mocked = new Set(fixturesOf(input.evalCase, input.suite).fixtures.map((fixture) => fixture.tool));
    const handlers = parts.toReversed().flatMap((part) => [...part.handlers].filter(([name]) => !mocked.has(name)));
    return { tools: parts.flatMap((part) => part.tools), handlers: new Map(handlers), close };
  };
}

type Connect = (server: McpServerConfig, key: string, input: AgentInput) => Promise<McpConnection>;

/** Starts that ended at once, none having gone well, before the command is taken to be wrong. */
const FAILED_STARTS = 3;

/** Connects; a program that has only ever ended at its start would do so in every trial, so that the evaluation stops. */
function countedStarts({ env }: McpOptions): Connect {
  const started = new Set<string>();
  const failures = new Map<string, number>();
  return async (server, key, { signal, suiteRoot }) => {
    try {
      const connection = await connectServer(server, { env, suiteRoot, signal, key });
      started.add(key);
      return connection;
    } catch (error) {
      if (!(error instanceof ServerEndedError) || started.has(key)) throw error;
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      if (count < FAILED_STARTS) throw error;
      throw new UserError(`${key}.command: ${error.message} (started ${count} times)`, {
        hint: `Run ${[server.command, ...(server.args ?? [])].join(' ')} in ${suiteRoot}: it must stay and speak MCP.`,
        cause: error,
      });
    }
  };
}

function replayed(
  { server, key }: { server: McpServerConfig; key: string },
  recording: Recording,
  caseId: string,
): ToolSource {
  const recorded = recording.tools.get(server.name);
  if (recorded !== undefined) checkNames({ server, key }, recorded, 'the recording of');
  const tools = offered(server, recorded ?? []);
  const replay = createReplay(recording, server.name, caseId);
  const handlerOf =
    (tool: string): ToolHandler =>
    (args) =>
      Promise.resolve(outcomeOf(replay.answer(tool, args), server, tool));
  return {
    tools,
    handlers: new Map(tools.map(({ name }) => [name, handlerOf(name)])),
    close: () => Promise.resolve(),
  };
}

function outcomeOf(answer: RecordedAnswer | null, server: McpServerConfig, tool: string): ToolOutcome {
  if (answer !== null) return { ...answer, unmatched: false };
  const message = `the recording of MCP server ${server.name} has no such call of ${tool}`;
  return { result: null, error: { kind: 'not_recorded', message }, unmatched: true };
}

async function connected(
  { server, key, connect }: { server: McpServerConfig; key: string; connect: Connect },
  input: AgentInput,
  writer: RecordingWriter | null,
): Promise<ToolSource> {
  const { signal, evalCase } = input;
  const connection = await connect(server, key, input);
  try {
    // Asked all the same, the client writes to standard output.
    const hasTools = connection.client.getServerCapabilities()?.tools !== undefined;
    const listed = hasTools
      ? await connection.client.listTools(undefined, { signal, timeout: server.timeout_ms })
      : { tools: [] };
    checkNames({ server, key }, listed.tools);
    const tools = offered(server, listed.tools.map(definitionOf));
    await writer?.tools(server.name, tools);
    const session = randomUUID();
    const handlerOf =
      (tool: string): ToolHandler =>
      async (args, callSignal) => {
        const answer = await callTool(connection, server, { tool, args, signal: callSignal });
        await writer?.call(server.name, { session, case: evalCase.id, tool, args, ...answer });
        return { ...answer, unmatched: false };
      };
    return {
      tools,
      handlers: new Map(tools.map(({ name }) => [name, handlerOf(name)])),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    if (signal.aborted) throw abortError(signal);
    if (error instanceof UserError) throw error;
    throw new ModelError(
      'server_error',
      `MCP server ${server.name} does not list its tools: ${connection.explain(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** @throws UserError when `tools` names one that the server (or its recording) does not have */
function checkNames(
  { server, key }: { server: McpServerConfig; key: string },
  listed: readonly { name: string }[],
  source = 'MCP server',
): void {
  const names = listed.map(({ name }) => name);
  const unknown = server.tools?.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new UserError(`${key}.tools: ${source} ${server.name} has no tool "${unknown}"${didYouMean(unknown, names)}`, {
    hint: names.length === 0 ? 'It has no tools.' : `It has: ${names.join(', ')}.`,
  });
}

function offered(server: McpServerConfig, tools: readonly ToolDefinition[]): ToolDefinition[] {
  return tools.filter(({ name }) => server.tools === undefined || server.tools.includes(name));
}

function definitionOf(tool: { name: string; description?: string | undefined; inputSchema: object }): ToolDefinition {
  const { name, description, inputSchema } = tool;
  const parameters = inputSchema as JsonObject;
  return description === undefined ? { name, parameters } : { name, description, parameters };
}

async function callTool(
  connection: McpConnection,
  server: McpServerConfig,
  call: { tool: string; args: JsonObject; signal: AbortSignal },
): Promise<RecordedAnswer> {
  try {
    const params = { name: call.tool, arguments: call.args };
    const reply = await connection.client.callTool(params, { signal: call.signal, timeout: server.timeout_ms });
    return maskSecrets(answerOf(reply), connection.secrets);
  } catch (error) {
    if (call.signal.aborted) throw abortError(call.signal);
    return { result: null, error: { kind: kindOf(error, connection), message: connection.explain(error) } };
  }
}

function kindOf(error: unknown, connection: McpConnection): string {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 'timeout';
  const closed = error instanceof SdkError && CLOSED.has(error.code);
  return closed || connection.gone() ? 'server_gone' : 'mcp_error';
}

const CLOSED: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
]);

/** Structured content where there is any, else the text, else the parts as they came. */
function answerOf({ content, structuredContent, isError }: CallToolResult): RecordedAnswer {
  const texts = content.map((part) => (part.type === 'text' ? part.text : null));
  const text = texts.every((part) => part !== null) ? texts.join('\n') : null;
  if (isError === true)
    return { result: null, error: { kind: 'tool_error', message: text ?? JSON.stringify(content) } };
  const result = structuredContent ?? text ?? content;
  return { result: JSON.parse(JSON.stringify(result)) as Json, error: null };
}
