import type { EvalCase, ToolDefinition } from '../../core/case.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import type { Problem } from '../../core/errors.ts';
import { APPROVAL_TOOL, DISPATCH_TOOL } from '../../core/suite.ts';
import { errorAt, warningAt } from '../readers/source.ts';
import type { Place } from '../readers/source.ts';

/** Group of suite fixtures that every case uses, after its own and those it names. */
export const DEFAULT_FIXTURES = 'default';

/** What a case may refer to. */
export interface References {
  tools: readonly ToolDefinition[];
  fixtureNames: ReadonlySet<string>;
  /** True when the agent may have tools of its own: a module. */
  bringsTools: boolean;
  /** True when MCP servers bring tools. */
  servers?: boolean;
}

/**
 * Names in a case that lead nowhere: a fixture that the suite does not have, a tool that is not offered. An expected call
 * of a tool that is not offered can never happen: an error, or a warning where the agent may bring tools of its own.
 */
export function checkReferences(evalCase: EvalCase, references: References, place: Place): Problem[] {
  const problems: Problem[] = [];
  const label = `case "${evalCase.id}"`;
  for (const name of evalCase.mock?.fixtures ?? []) {
    if (references.fixtureNames.has(name)) continue;
    const known = [...references.fixtureNames];
    const list = known.length === 0 ? 'the suite has none' : `known: ${known.join(', ')}`;
    problems.push(errorAt(place, `${label}: unknown fixture "${name}"${didYouMean(name, known)}; ${list}`));
  }
  const suiteTools = new Set(references.tools.map((tool) => tool.name));
  const offered = offeredTools(evalCase, suiteTools);
  for (const tool of evalCase.tools ?? []) {
    if (typeof tool !== 'string' || suiteTools.has(tool)) continue;
    const meant = didYouMean(tool, suiteTools);
    const finding = references.servers === true ? warningAt : errorAt;
    problems.push(finding(place, `${label}: unknown tool "${tool}"${meant}; define it in the suite's tools`));
  }
  if (offered.size === 0) return problems;
  const ownTools = references.bringsTools || references.servers === true || evalCase.context?.sub_agents !== undefined;
  for (const { tool, needed, key } of namedTools(evalCase)) {
    if (offered.has(tool) || tool === APPROVAL_TOOL || tool === DISPATCH_TOOL) continue;
    const meant = didYouMean(tool, offered);
    const finding = needed && !ownTools ? errorAt : warningAt;
    problems.push(finding(place, `${label}: ${key} names the tool "${tool}", which the case does not offer${meant}`));
  }
  return problems;
}

function offeredTools(evalCase: EvalCase, suiteTools: ReadonlySet<string>): ReadonlySet<string> {
  if (evalCase.tools === undefined) return suiteTools;
  return new Set(evalCase.tools.map((tool) => (typeof tool === 'string' ? tool : tool.name)));
}

interface NamedTool {
  tool: string;
  /** True when the case cannot pass without a call of it. */
  needed: boolean;
  key: string;
}

function namedTools({ expected, mock }: EvalCase): NamedTool[] {
  const named: NamedTool[] = [];
  const add = (key: string, needed: boolean, tools: readonly string[]): void => {
    for (const tool of new Set(tools)) named.push({ key, needed, tool });
  };
  add('expected.calls', true, expected.calls?.map((call) => call.tool) ?? []);
  add('expected.any_of', false, expected.any_of?.flatMap((way) => way.calls.map((call) => call.tool)) ?? []);
  add('expected.must_call', true, expected.must_call ?? []);
  add('expected.must_not_call', false, expected.must_not_call ?? []);
  const { injection = [] } = expected;
  add(
    'expected.injection',
    false,
    (Array.isArray(injection) ? injection : [injection]).flatMap(({ tool }) => tool ?? []),
  );
  add('expected.calls_per_tool', false, Object.keys(expected.calls_per_tool ?? {}));
  add('expected.args', false, typeof expected.args === 'object' ? Object.keys(expected.args) : []);
  add('mock.tools', false, mock?.tools?.map((fixture) => fixture.tool) ?? []);
  return named;
}
