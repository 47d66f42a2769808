import type { ToolDefinition } from '../../core/case.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/trajectory.ts';
import { schemaViolations } from '../values/json-schema.ts';
import { listed, preview } from '../values/preview.ts';
import type { Scorer } from '../scorer.ts';
import { toolsOf } from './tools-of.ts';

interface CallProblem {
  index: number;
  tool: string;
  kind: 'malformed' | 'unknown_tool' | 'unknown_argument' | 'schema_invalid';
  message: string;
}

/** Informative: the share of calls that were readable, of a tool on offer, with arguments its schema has and allows. */
export const toolSchema: Scorer = (input) => {
  const calls = input.trajectory.tool_calls;
  if (calls.length === 0) return [];
  const tools = toolsOf(input);
  const problems = calls.flatMap((call) => problemsOf(call, tools));
  const wrong = new Set(problems.map(({ index }) => index)).size;
  const first = problems[0];
  // With no tool known there is nothing they could have failed: that is no pass.
  const unknown = first === undefined && tools.size === 0;
  return [
    {
      scorer: 'tool_schema',
      dimension: null,
      value: unknown ? null : (calls.length - wrong) / calls.length,
      passed: unknown ? null : wrong === 0,
      reason: reasonOf(calls.length, first, unknown),
      details: { problems: problems.slice(0, 20).map((problem) => ({ ...problem })) },
    },
  ];
};

function reasonOf(calls: number, first: CallProblem | undefined, unknown: boolean): string {
  if (first !== undefined) return `call ${first.index + 1} \`${first.tool}\`: ${first.message}`;
  if (unknown) return 'not scored: no tool is known to check the calls against';
  return calls === 1 ? '1 call fits its tool' : `${calls} calls fit their tools`;
}

function problemsOf(call: ToolCall, tools: ReadonlyMap<string, ToolDefinition>): CallProblem[] {
  const at = { index: call.index, tool: call.tool };
  if (call.malformed !== null || call.args === null) {
    const raw = call.raw_arguments === null ? '' : `: ${preview(call.raw_arguments)}`;
    return [{ ...at, kind: 'malformed', message: `${call.malformed ?? 'no arguments'}${raw}` }];
  }
  if (tools.size === 0) return [];
  const tool = tools.get(call.tool);
  if (tool === undefined) {
    // A tool that answered is there, whoever brought it: agents of the user's own have tools that nobody offered them.
    if (call.error === null && call.result !== null) return [];
    return [{ ...at, kind: 'unknown_tool', message: `no such tool; on offer: ${listed([...tools.keys()])}` }];
  }
  const { parameters } = tool;
  if (parameters === undefined) return [];
  const properties = isJsonObject(parameters['properties']) ? parameters['properties'] : null;
  const open = parameters['additionalProperties'];
  const free = properties === null || (open !== undefined && open !== false);
  const unknown = free ? [] : Object.keys(call.args).filter((key) => !Object.hasOwn(properties, key));
  return [
    ...unknown.map((key): CallProblem => ({
      ...at,
      kind: 'unknown_argument',
      message: `no argument \`${key}\`; it has ${listed(Object.keys(properties ?? {}))}`,
    })),
    ...schemaViolations(call.args, { ...parameters, additionalProperties: free ? (open ?? true) : true }).map(
      (violation): CallProblem => ({
        ...at,
        kind: 'schema_invalid',
        message: `${violation.path}: ${violation.message}`,
      }),
    ),
  ];
}
