import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EvalCase } from '../core/case.ts';
import { hashText, hashValue } from '../core/hash.ts';
import { installedPackage } from '../core/installed-package.ts';
import { withoutPlaces } from '../core/suite-places.ts';
import type { CustomScorerConfig, JudgeConfig, McpServerConfig, Suite } from '../core/suite.ts';
import { commandFiles, hashFile } from './agent-files.ts';
import { DEFAULT_FIXTURES } from './checks/check-references.ts';
import { moduleSources } from './module-sources.ts';

/** What a resume is checked against; see {@link hashSuite}, {@link hashCases} and {@link hashAgent}. */
export interface SuiteHashes {
  suite: string;
  data: string;
  agent: string;
}

/** Hash of each case: its canonical form with the shared fixtures it uses. Equal content gives an equal hash, whatever the file's form. */
export function hashCases(cases: readonly EvalCase[], suite: Pick<Suite, 'fixtures'>): Map<string, string> {
  const shared = suite.fixtures[DEFAULT_FIXTURES] ?? null;
  return new Map(
    cases.map((evalCase) => {
      const named = (evalCase.mock?.fixtures ?? []).map((name) => suite.fixtures[name] ?? null);
      return [evalCase.id, hashValue({ case: evalCase, named, shared })];
    }),
  );
}

/** Hash over the hashes of the cases in their order. */
export function hashData(caseHashes: ReadonlyMap<string, string>): string {
  return hashText([...caseHashes.values()].join('\n'));
}

/**
 * Hash of the agent's configuration, addresses and names of keys left out, with the content of what it is made of: a module
 * and what that imports ({@link moduleSources}), the files a command names ({@link commandFiles}), a recording.
 */
export async function hashAgent(suite: Suite, suiteRoot: string): Promise<string> {
  const { agent } = suite;
  if (agent.type === 'module') {
    return hashValue({ config: agent, sources: await moduleSources(agent.path, suiteRoot) });
  }
  if (agent.type === 'command') {
    const files = await commandFiles(agent.command, agent.cwd ?? '.', suiteRoot);
    return hashValue({ config: withoutPlaces(agent), files });
  }
  if (agent.type === 'replay') {
    return hashValue({ type: agent.type, recording: await hashFile(join(suiteRoot, agent.trajectories)) });
  }
  return hashValue({ config: withoutPlaces(agent) });
}

/**
 * Hash of what changes a trial's result: judge and prompt texts, decides, limits, tool score, safety, tools, fixtures,
 * the suite's own scorers with their sources.
 * Not of gates, regression, labels, budget, concurrency, prices, trials, retry.
 */
export async function hashSuite(suite: Suite, suiteRoot: string): Promise<string> {
  const { tools, fixtures, sub_agents, decides, tool_score, retrieval, safety, limits } = suite;
  const judge = suite.judge === null ? null : await judgeIdentity(suite.judge, suiteRoot);
  const scorers = await scorersIdentity(suite.scorers ?? [], suiteRoot);
  const mcp = suite.mcp === undefined ? undefined : await mcpIdentity(suite.mcp, suiteRoot);
  return hashValue({
    tools: tools.map((tool) => (tool.a2a === undefined ? tool : { ...tool, a2a: withoutPlaces(tool.a2a) })),
    fixtures,
    decides,
    tool_score,
    retrieval,
    safety,
    limits,
    judge,
    ...(sub_agents === undefined ? {} : { sub_agents }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(scorers.length === 0 ? {} : { scorers }),
  });
}

/** Scorers of the suite's own, each with what its module is made of. */
async function scorersIdentity(scorers: readonly CustomScorerConfig[], suiteRoot: string): Promise<unknown[]> {
  return Promise.all(scorers.map(async (config) => ({ config, sources: await moduleSources(config.path, suiteRoot) })));
}

/** What the servers answer with, as far as it is known: a replay with the content of its recording. */
async function mcpIdentity(servers: readonly McpServerConfig[], suiteRoot: string): Promise<unknown> {
  return Promise.all(
    servers.map(async (server) => {
      const config = withoutPlaces(server);
      if (config.mode !== 'replay' || config.recording === undefined) return config;
      return { ...config, content: hashText(await readFile(join(suiteRoot, config.recording), 'utf8')) };
    }),
  );
}

/** Hash of the prompts a judge uses, the user's own in place of the shipped ones; null without a judge. */
export async function hashJudgePrompts(judge: JudgeConfig | null, suiteRoot: string): Promise<string | null> {
  return judge === null ? null : hashValue(await promptsOf(judge, suiteRoot));
}

async function judgeIdentity(judge: JudgeConfig, suiteRoot: string): Promise<unknown> {
  const { prompts: _prompts, panel, ...config } = withoutPlaces(judge);
  const models = panel === undefined ? {} : { panel: panel.map(({ model }) => model) };
  return { config: { ...config, ...models }, prompts: await promptsOf(judge, suiteRoot) };
}

async function promptsOf(judge: JudgeConfig, suiteRoot: string): Promise<Record<string, string>> {
  const shipped = await promptTexts(join(installedPackage().root, 'prompts', judge.language));
  const own = judge.prompts === undefined ? {} : await promptTexts(join(suiteRoot, judge.prompts));
  // A suite that judges one dimension does not change with the prompt of another.
  const used = new Set([...judge.dimensions.map((dimension) => `${dimension}.txt`), 'data-rule.txt']);
  return Object.fromEntries(Object.entries({ ...shipped, ...own }).filter(([name]) => used.has(name)));
}

async function promptTexts(folder: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await readdir(folder)) {
    if (name.endsWith('.txt')) texts[name] = await readFile(join(folder, name), 'utf8');
  }
  return texts;
}
