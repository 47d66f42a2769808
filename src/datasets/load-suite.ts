import { dirname, join, resolve } from 'node:path';
import type { EvalCase } from '../core/case.ts';
import type { Problem } from '../core/errors.ts';
import { InputError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import type { Suite } from '../core/suite.ts';
import { suiteSchema } from '../core/suite.schema.ts';
import { CaseCollector } from './case-collector.ts';
import { DEFAULT_FIXTURES, checkReferences } from './checks/check-references.ts';
import { checkRole } from './checks/check-safety.ts';
import { checkSuite } from './checks/check-suite.ts';
import { checkToolSources } from './checks/check-tool-sources.ts';
import { expandEnv } from './expand-env.ts';
import { readGates } from './checks/gates.ts';
import { resolveInside } from './safe-path.ts';
import { describe, errorAt, partOf, warningAt } from './readers/source.ts';
import type { Path, Place, Report, SourceValue } from './readers/source.ts';
import { hashAgent, hashCases, hashData, hashJudgePrompts, hashSuite } from './suite-hashes.ts';
import type { SuiteHashes } from './suite-hashes.ts';
import { readFixtures, readTools } from './suite-parts.ts';
import type { NamedFixtures, SuiteFolder } from './suite-parts.ts';
import { readSuiteSource } from './suite-source.ts';
import { zodProblems } from './checks/zod-problems.ts';

export interface LoadSuiteOptions {
  env: Record<string, string | undefined>;
  /** Folder a relative path is relative to. Default: the working folder of the process. */
  cwd?: string;
  /** Words a rubric is warned for, in place of the suite's list and the built-in one (vague-words.ts). */
  vagueWords?: readonly string[];
}

export interface LoadedSuite {
  suite: Suite;
  /** Absolute. */
  suitePath: string;
  /** Absolute folder of the suite file. */
  suiteRoot: string;
  cases: EvalCase[];
  /** Warnings only: with an error the suite does not load. */
  problems: Problem[];
  hashes: SuiteHashes;
  /** Of the judge's prompts; null without a judge. */
  judgeHash: string | null;
  /** Content hash by case id. */
  caseHashes: Map<string, string>;
  /** Where each case stands, by id. */
  positions: Map<string, Place>;
}

/**
 * Reads a suite and everything it names: the files it extends, tools, fixtures, datasets, prompts, the agent's module.
 * @param path of the suite file, YAML or JSON
 * @throws InputError with every problem of all these files at once
 */
export async function loadSuite(path: string, options: LoadSuiteOptions): Promise<LoadedSuite> {
  const problems: Problem[] = [];
  const report: Report = (problem) => problems.push(problem);
  const suitePath = resolve(options.cwd ?? process.cwd(), path);
  const suiteRoot = dirname(suitePath);
  const raw = await readSuiteSource(suitePath, path, suiteRoot, report);
  if (raw === null) throw new InputError(sorted(problems));
  const source = expandEnv(raw, options.env, report);
  const record = isJsonObject(source.value) ? source.value : {};
  const folder: SuiteFolder = { root: suiteRoot, file: path, allowOutside: record['allow_outside'] === true };
  checkAllowOutside(record, source, report);
  const parts = await readParts(source, record, folder, report);
  const suite = parseSuite(record, parts, source, report);
  const collector = new CaseCollector(report, options.vagueWords ?? suite?.vague_words);
  const files = suite?.datasets ?? datasetNames(record);
  const errorsBefore = countErrors(problems);
  for (const [index, dataset] of files.entries()) {
    const place = source.place(typeof record['datasets'] === 'string' ? ['datasets'] : ['datasets', index]);
    const safe = await resolveInside(suiteRoot, dataset, folder.allowOutside);
    if (!safe.ok) {
      report(errorAt(place, `datasets: ${safe.error}`));
      continue;
    }
    await collector.addFile(safe.absolute, join(dirname(path), dataset));
  }
  if (parts.readable) checkCases(parts, record, collector, report);
  if (suite !== null) {
    checkRoles(suite, collector, report);
    if (!hasErrors(problems)) checkUnused(parts.fixtures, collector.cases, report);
    const allCases = countErrors(problems) === errorsBefore;
    await checkSuite({ suite, cases: collector.cases, allCases, source, folder, fixtures: parts.fixtures, report });
    await checkToolSources({ suite, cases: collector.cases, positions: collector.positions, source, folder, report });
  }
  if (suite === null || hasErrors(problems)) throw new InputError(sorted(problems));
  const caseHashes = hashCases(collector.cases, suite);
  const hashes = {
    suite: await hashSuite(suite, suiteRoot),
    data: hashData(caseHashes),
    agent: await hashAgent(suite, suiteRoot),
  };
  const { cases, positions } = collector;
  const judgeHash = await hashJudgePrompts(suite.judge, suiteRoot);
  return { judgeHash, suite, suitePath, suiteRoot, cases, problems: sorted(problems), hashes, caseHashes, positions };
}

interface Parts {
  tools: Suite['tools'];
  fixtures: NamedFixtures;
  gates: Suite['gates'];
  off: string[];
  /** False when tools or fixtures have errors: then nothing is said of references to them. */
  readable: boolean;
}

async function readParts(source: SourceValue, record: JsonObject, folder: SuiteFolder, report: Report): Promise<Parts> {
  let readable = true;
  const watch: Report = (problem) => {
    if (problem.severity === 'error') readable = false;
    report(problem);
  };
  const has = (key: string): boolean => record[key] !== undefined && record[key] !== null;
  const tools = has('tools') ? await readTools(partOf(source, ['tools']), folder, watch) : [];
  const fixtures: NamedFixtures = has('fixtures')
    ? await readFixtures(partOf(source, ['fixtures']), folder, watch)
    : { fixtures: {}, places: new Map() };
  const { gates, off } = has('gates')
    ? readGates(partOf(source, ['gates']), ownScorers(record['scorers']), report)
    : { gates: [], off: [] };
  return { tools, fixtures, gates, off, readable };
}

/** Names of the suite's own scorers, before it is known whether they are well written. */
function ownScorers(scorers: JsonObject[string] | undefined): string[] {
  return (Array.isArray(scorers) ? scorers : []).flatMap((one) => {
    const name = isJsonObject(one) ? one['name'] : null;
    return typeof name === 'string' ? [name] : [];
  });
}

function parseSuite(record: JsonObject, parts: Parts, source: SourceValue, report: Report): Suite | null {
  const { allow_outside: _allowed, extends: _base, ...rest } = record;
  const value: JsonObject = { ...rest };
  if (typeof value['datasets'] === 'string') value['datasets'] = [value['datasets']];
  const { agent } = value;
  if (isJsonObject(agent) && agent['type'] === undefined) {
    value['agent'] = { type: agentTypeOf(agent), ...agent };
  }
  if (isJsonObject(value['judge'])) value['judge'] = withJudgeDefaults(value['judge'], value['agent']);
  const off = Array.isArray(value['gates_off']) ? [...value['gates_off'], ...parts.off] : parts.off;
  const parsed = suiteSchema.safeParse({
    ...value,
    tools: parts.tools,
    fixtures: parts.fixtures.fixtures,
    gates: parts.gates,
    ...(value['gates_off'] === undefined || Array.isArray(value['gates_off']) ? { gates_off: off } : {}),
  });
  if (parsed.success) return parsed.data;
  const place = (path: Path, target?: 'key' | 'value'): Place => source.place(path, target);
  zodProblems(parsed.error.issues, { value, place }).forEach(report);
  return null;
}

/** The keys tell which kind is meant: a file, an address, a program, a recording, else a model. */
function agentTypeOf(agent: JsonObject): string {
  const kinds = { path: 'module', url: 'http', card_url: 'a2a', command: 'command', trajectories: 'replay' };
  return Object.entries(kinds).find(([key]) => agent[key] !== undefined)?.[1] ?? 'openai';
}

/** The judge shares the agent's model and endpoint unless told otherwise; checkSuite warns about an equal model. */
function withJudgeDefaults(given: JsonObject, agent: JsonObject[string] | undefined): JsonObject {
  const first = Array.isArray(given['panel']) ? given['panel'][0] : undefined;
  const named = isJsonObject(first) && first['model'] !== undefined ? { model: first['model'] } : {};
  const judge: JsonObject = { ...named, ...given };
  if (!isJsonObject(agent) || agent['type'] !== 'openai') return judge;
  const shared: JsonObject = {};
  if (judge['model'] === undefined && agent['model'] !== undefined) shared['model'] = agent['model'];
  if (judge['base_url'] === undefined && judge['api_key_env'] === undefined) {
    for (const key of ['base_url', 'api_key_env']) if (agent[key] !== undefined) shared[key] = agent[key];
  }
  return { ...shared, ...judge };
}

function checkCases(parts: Parts, record: JsonObject, collector: CaseCollector, report: Report): void {
  const references = {
    tools: parts.tools,
    fixtureNames: new Set(Object.keys(parts.fixtures.fixtures)),
    bringsTools: bringsTools(record['agent']),
    servers: record['mcp'] !== undefined,
  };
  for (const evalCase of collector.cases) {
    const place = collector.positions.get(evalCase.id) ?? { file: '', line: 0, column: 0 };
    for (const problem of checkReferences(evalCase, references, place)) report(problem);
  }
}

function checkRoles({ safety }: Suite, { cases, positions }: CaseCollector, report: Report): void {
  for (const evalCase of cases) {
    checkRole(evalCase, safety.roles, positions.get(evalCase.id) ?? { file: '', line: 0, column: 0 }, report);
  }
}

/** Only the built-in agent has no tools but those offered. */
function bringsTools(agent: JsonObject[string] | undefined): boolean {
  return isJsonObject(agent) && (agent['type'] ?? agentTypeOf(agent)) !== 'openai';
}

function checkUnused(fixtures: NamedFixtures, cases: readonly EvalCase[], report: Report): void {
  const used = new Set([DEFAULT_FIXTURES, ...cases.flatMap((evalCase) => evalCase.mock?.fixtures ?? [])]);
  for (const [name, place] of fixtures.places) {
    if (!used.has(name)) report(warningAt(place, `fixtures: "${name}" is used by no case`));
  }
}

function hasErrors(problems: readonly Problem[]): boolean {
  return countErrors(problems) > 0;
}

function countErrors(problems: readonly Problem[]): number {
  return problems.filter((problem) => problem.severity === 'error').length;
}

/** Dataset names of a suite that did not parse: their problems are shown together with the suite's. */
function datasetNames(record: JsonObject): string[] {
  const { datasets } = record;
  if (typeof datasets === 'string') return [datasets];
  return Array.isArray(datasets) ? datasets.filter((name) => typeof name === 'string') : [];
}

function checkAllowOutside(record: JsonObject, source: SourceValue, report: Report): void {
  const allow = record['allow_outside'];
  if (allow === undefined || typeof allow === 'boolean') return;
  report(errorAt(source.place(['allow_outside']), `allow_outside: expected true or false, got ${describe(allow)}`));
}

/** By file in order of first appearance, then by place. */
function sorted(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map((problem) => problem.file))];
  return [...problems].sort(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}
