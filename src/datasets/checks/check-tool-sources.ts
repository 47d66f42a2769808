import type { EvalCase, SubAgentDefinition } from '../../core/case.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import { DISPATCH_TOOL, type McpServerConfig, type Suite } from '../../core/suite.ts';
import { resolveInside, resolveToWrite } from '../safe-path.ts';
import { outsideWords } from './command-words.ts';
import type { SuiteFolder } from '../suite-parts.ts';
import { errorAt, warningAt } from '../readers/source.ts';
import type { Place, Report, SourceValue } from '../readers/source.ts';

/** Sub-agents and MCP servers: names that lead nowhere or stand twice, recordings that are not there. */
export async function checkToolSources(check: {
  suite: Suite;
  cases: readonly EvalCase[];
  source: SourceValue;
  folder: SuiteFolder;
  positions: ReadonlyMap<string, Place>;
  report: Report;
}): Promise<void> {
  const { suite, source, report } = check;
  const shared = suite.sub_agents ?? [];
  const tools = new Set(suite.tools.map(({ name }) => name));
  const lenient = (suite.mcp ?? []).length > 0 || suite.agent.type !== 'openai';
  if (tools.has(DISPATCH_TOOL) && shared.length > 0) {
    report(
      errorAt(
        source.place(['tools']),
        `tools: "${DISPATCH_TOOL}" is the name of Assay's own tool; name yours otherwise`,
      ),
    );
  }
  checkDefinitions(shared, { tools, lenient, report, place: source.place(['sub_agents']), label: 'sub_agents' });
  for (const evalCase of check.cases) checkCase(evalCase, { ...check, tools, lenient });
  await checkServers(suite.mcp ?? [], check);
}

interface DefinitionCheck {
  tools: ReadonlySet<string>;
  /** True when there may be tools the suite does not define. */
  lenient: boolean;
  place: Place;
  label: string;
  report: Report;
}

function checkCase(
  evalCase: EvalCase,
  context: {
    suite: Suite;
    positions: ReadonlyMap<string, Place>;
    tools: Set<string>;
    lenient: boolean;
    report: Report;
  },
): void {
  const listed = evalCase.context?.sub_agents;
  if (listed === undefined) return;
  const shared = context.suite.sub_agents ?? [];
  const place = context.positions.get(evalCase.id) ?? { file: '', line: 0, column: 0 };
  const label = `case "${evalCase.id}": context.sub_agents`;
  const names = shared.map(({ name }) => name);
  for (const entry of listed) {
    if (typeof entry !== 'string' || names.includes(entry)) continue;
    const known = names.length === 0 ? 'the suite has none' : `known: ${names.join(', ')}`;
    context.report(errorAt(place, `${label}: unknown sub-agent "${entry}"${didYouMean(entry, names)}; ${known}`));
  }
  const definitions = listed.flatMap((entry) =>
    typeof entry === 'string' ? shared.filter(({ name }) => name === entry) : [entry],
  );
  const own = (evalCase.tools ?? []).map((tool) => (typeof tool === 'string' ? tool : tool.name));
  checkDefinitions(definitions, { ...context, tools: new Set([...context.tools, ...own]), place, label });
}

function checkDefinitions(definitions: readonly SubAgentDefinition[], check: DefinitionCheck): void {
  const { place, label, report } = check;
  const names = definitions.map(({ name }) => name);
  for (const [at, { name, tools = [], sub_agents = [] }] of definitions.entries()) {
    if (names.indexOf(name) !== at) report(errorAt(place, `${label}: "${name}" is defined twice`));
    for (const tool of tools) {
      if (check.tools.has(tool) || tool === DISPATCH_TOOL) continue;
      const finding = check.lenient ? warningAt : errorAt;
      report(
        finding(
          place,
          `${label}: ${name} names the tool "${tool}", which is not defined${didYouMean(tool, check.tools)}`,
        ),
      );
    }
    for (const below of sub_agents) {
      if (names.includes(below)) continue;
      report(
        errorAt(
          place,
          `${label}: ${name} names the sub-agent "${below}", which is not declared here${didYouMean(below, names)}`,
        ),
      );
    }
  }
}

async function checkServers(
  servers: readonly McpServerConfig[],
  { source, folder, report }: { source: SourceValue; folder: SuiteFolder; report: Report },
): Promise<void> {
  const names = servers.map(({ name }) => name);
  for (const [at, server] of servers.entries()) {
    const place = source.place(['mcp', at]);
    if (names.indexOf(server.name) !== at) report(errorAt(place, `mcp: "${server.name}" is defined twice`));
    const words = server.command === undefined ? [] : [server.command, ...(server.args ?? [])];
    for (const { error } of await outsideWords(words, '.', folder)) {
      report(errorAt(place, `mcp: ${server.name}: ${error}`));
    }
    if (server.recording === undefined) continue;
    const replays = server.mode === 'replay';
    const resolve = replays ? resolveInside : resolveToWrite;
    const safe = await resolve(folder.root, server.recording, folder.allowOutside);
    if (!safe.ok)
      report(errorAt(place, `mcp: recording: ${safe.error}${replays ? '; make it with mode: record' : ''}`));
  }
}
