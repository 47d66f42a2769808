import { readdir, stat } from 'node:fs/promises';
import type { EvalCase } from '../../core/case.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import type { Suite, SuiteKind } from '../../core/suite.ts';
import { ownScoreNames } from '../../core/scorer-names.ts';
import { JUDGE_DIMENSIONS, judgesOf } from '../../core/suite.ts';
import { checkAgent } from './check-agent.ts';
import { checkSafety } from './check-safety.ts';
import { checkScorers } from './check-scorers.ts';
import { unscoredDimensions } from './check-dimensions.ts';
import { cannotSwitchOff } from './gates.ts';
import { resolveInside } from '../safe-path.ts';
import { errorAt, warningAt } from '../readers/source.ts';
import type { Place, Report, SourceValue } from '../readers/source.ts';
import type { NamedFixtures, SuiteFolder } from '../suite-parts.ts';

/** How many cases a suite of a kind should have; deep has no bounds. */
const SIZES: Record<SuiteKind, { min: number; max: number; use: string } | null> = {
  smoke: { min: 10, max: 20, use: 'runs on every prompt change' },
  benchmark: { min: 50, max: 200, use: 'runs before a release' },
  deep: null,
};

/** Names of gates that are added to every evaluation by themselves: one of the suite's own would stand there twice. */
const OWN_GATES: ReadonlySet<string> = new Set(['regression', 'any_verdict']);

/** The prompt of `compare --pairwise`; every other one is named after a dimension. */
const PAIRWISE_FILE = 'pairwise.txt';

export interface SuiteCheck {
  suite: Suite;
  cases: readonly EvalCase[];
  /** False when cases are missing because of errors: then nothing is said of how many there are, or of what kind. */
  allCases: boolean;
  source: SourceValue;
  folder: SuiteFolder;
  fixtures: NamedFixtures;
  report: Report;
}

/** What a schema cannot see in a suite: files it names, its size, judge apart from agent, gates that apply to nothing. */
export async function checkSuite(check: SuiteCheck): Promise<void> {
  await checkFiles(check);
  await checkAgent(check);
  await checkScorers(check);
  checkSize(check);
  checkJudge(check);
  checkDimensions(check);
  checkDecides(check);
  checkGates(check);
  checkSafety(check);
}

async function checkFiles({ suite, source, folder, report }: SuiteCheck): Promise<void> {
  if (suite.agent.type === 'module') await checkFile(suite.agent.path, ['agent', 'path'], false);
  if (suite.offline_model !== undefined) await checkFile(suite.offline_model, ['offline_model'], false);
  if (suite.judge?.prompts === undefined) return;
  const prompts = await checkFile(suite.judge.prompts, ['judge', 'prompts'], true);
  if (prompts === null) return;
  const place = source.place(['judge', 'prompts']);
  const names = (await readdir(prompts)).filter((name) => name.endsWith('.txt'));
  if (names.length === 0) report(errorAt(place, `judge.prompts: no .txt file in ${suite.judge.prompts}`));
  for (const name of names) {
    const dimension = name.slice(0, -'.txt'.length);
    if ((JUDGE_DIMENSIONS as readonly string[]).includes(dimension) || name === PAIRWISE_FILE) continue;
    const known = [...JUDGE_DIMENSIONS.map((known) => `${known}.txt`), PAIRWISE_FILE];
    report(
      errorAt(place, `judge.prompts: ${name} is no prompt; expected ${known.join(', ')}${didYouMean(name, known)}`),
    );
  }

  async function checkFile(path: string, key: string[], folderWanted: boolean): Promise<string | null> {
    const safe = await resolveInside(folder.root, path, folder.allowOutside);
    const label = key.join('.');
    if (!safe.ok) report(errorAt(source.place(key), `${label}: ${safe.error}`));
    else if ((await stat(safe.absolute)).isDirectory() === folderWanted) return safe.absolute;
    else
      report(
        errorAt(
          source.place(key),
          `${label}: "${path}" is ${folderWanted ? 'a file; expected a folder' : 'a folder; expected a file'}`,
        ),
      );
    return null;
  }
}

function checkSize({ suite, cases, allCases, source, report }: SuiteCheck): void {
  const size = SIZES[suite.kind];
  if (size === null || !allCases || cases.length === 0 || (cases.length >= size.min && cases.length <= size.max))
    return;
  const advice = `a ${suite.kind} suite ${size.use} and has ${size.min} to ${size.max}`;
  report(
    warningAt(source.place(['kind']), `kind: ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}; ${advice}`),
  );
}

function checkJudge({ suite, source, report }: SuiteCheck): void {
  const { agent, judge } = suite;
  if (judge === null) return;
  const own = agent.type === 'openai' ? judgesOf(judge).findIndex(({ model }) => model === agent.model) : -1;
  if (own !== -1) {
    const key = judge.panel === undefined ? ['judge', 'model'] : ['judge', 'panel', own, 'model'];
    const model = judgesOf(judge)[own]?.model ?? judge.model;
    const message = `${judge.panel === undefined ? 'judge.model' : 'judge.panel'}: the judge is the agent's own model (${model}); a model judges itself too kindly`;
    report(warningAt(source.place(key), message));
  }
  if ((judge.votes ?? 1) > 1 && judge.temperature === 0) {
    const message = `judge.votes: ${judge.votes} votes of one model at temperature 0 are nearly the same vote; set judge.temperature, or a panel`;
    report(warningAt(source.place(['judge', 'votes']), message));
  }
}

function checkDimensions({ suite, cases, source, report }: SuiteCheck): void {
  const place = source.place(suite.judge === null ? [] : ['judge', 'dimensions']);
  for (const message of unscoredDimensions(cases, suite.judge)) report(warningAt(place, message));
}

/** A name no score has would never decide: every trial would end without a verdict. */
function checkDecides({ suite, source, report }: SuiteCheck): void {
  const known = [...ownScoreNames(), ...(suite.scorers ?? []).map(({ name }) => name)];
  suite.decides?.forEach((name, at) => {
    if (known.includes(name)) return;
    const message = `decides: no scorer is named "${name}"${didYouMean(name, known)}; the names are in docs/scoring.md`;
    report(errorAt(source.place(['decides', at]), message));
  });
}

function checkGates({ suite, cases, allCases, source, report }: SuiteCheck): void {
  for (const name of suite.gates_off) {
    const problem = cannotSwitchOff(name);
    if (problem !== null) report(errorAt(source.place(['gates_off']), `gates_off: ${problem}`));
  }
  for (const gate of suite.gates) {
    checkGateName(gate.name, source.place(['gates']), report);
    const groups: [string, string | undefined, string[]][] = [
      ['category', gate.category, cases.flatMap((evalCase) => evalCase.category ?? [])],
      ['tag', gate.tag, cases.flatMap((evalCase) => evalCase.tags ?? [])],
      ['difficulty', gate.difficulty, cases.flatMap((evalCase) => evalCase.difficulty ?? [])],
      ['dimension', gate.dimension, cases.flatMap((evalCase) => evalCase.dimension ?? [])],
    ];
    if (gate.metric === 'stability_stdev' && groups.some(([, wanted]) => wanted !== undefined)) {
      const message = 'stability_stdev is of the whole evaluation; leave out category, tag, difficulty and dimension';
      report(errorAt(source.place(['gates']), `gates: "${gate.name}" can bound no group: ${message}`));
    }
    for (const [key, wanted, values] of groups) {
      if (wanted === undefined || !allCases || cases.length === 0 || values.includes(wanted)) continue;
      const meant = didYouMean(wanted, new Set(values));
      report(
        warningAt(
          source.place(['gates']),
          `gates: "${gate.name}" applies to no case: none has the ${key} "${wanted}"${meant}`,
        ),
      );
    }
  }
}

function checkGateName(name: string, place: Place, report: Report): void {
  if (name === 'safety_violations') {
    const advice = 'it is always on and wants 0; to bound a group, name the gate otherwise';
    report(warningAt(place, `gates: "${name}" is ignored: this gate cannot be replaced, ${advice}`));
  } else if (OWN_GATES.has(name)) {
    const advice = name === 'regression' ? '; its bounds stand under regression: {alert, max_drop}' : '';
    report(errorAt(place, `gates: "${name}" is a gate of Assay's own; name yours otherwise${advice}`));
  }
}
