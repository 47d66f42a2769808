import { type AgentSkill, Message, TaskState } from '@a2a-js/sdk';
import type { CommandContext } from '../../commands/context.ts';
import { requireEndpoint } from '../../commands/run/require-endpoint.ts';
import { endedTrials } from '../../commands/stored/eta.ts';
import { storedReport } from '../../commands/stored/stored-report.ts';
import { UserError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { loadSuite, type LoadedSuite } from '../../datasets/load-suite.ts';
import { parseFilter, selectCases } from '../../datasets/select-cases.ts';
import type { Db } from '../../db/connect.ts';
import type { NewEvaluation } from '../../db/create-evaluation.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { loadProgress } from '../../db/missing-trials.ts';
import { newEvaluation } from '../../db/new-evaluation.ts';
import { whileTransient } from '../../db/transient.ts';
import { renderText } from '../../report/text.ts';
import { artifactOf, type Content, contentOf, dataPart, INPUT_MODES, OUTPUT_MODES, textPart } from './parts.ts';
import type { EvaluationEnd, Served, TaskEnd, Turn } from './served.ts';
import { readSuiteRequest, type SuiteRequest } from './suite-request.ts';

export interface SuiteServiceDeps {
  context: CommandContext;
  db: Db;
  /** Suite files as they were given. */
  files: readonly string[];
}

/**
 * The suites of `assay serve`: a message starts an evaluation of one, its reports are the artifacts. Files are read anew
 * for each evaluation, so that it is of the data as they then are.
 * @throws InputError when a suite cannot be loaded, UserError when two have one name
 */
export async function createSuiteService({ context, db, files }: SuiteServiceDeps): Promise<Served> {
  const suites = new Map<string, { file: string; loaded: LoadedSuite }>();
  for (const file of files) {
    const loaded = await loadSuite(file, { env: context.env, cwd: context.cwd });
    const known = suites.get(loaded.suite.name);
    if (known !== undefined) {
      throw new UserError(`${known.file} and ${file} are both named ${loaded.suite.name}`, {
        hint: 'a skill of the agent card is a suite by its name: rename one of them',
      });
    }
    suites.set(loaded.suite.name, { file, loaded });
  }
  const names = [...suites.keys()];
  return {
    key: 'suites',
    name: 'Assay',
    description: `Evaluates AI agents: a task is an evaluation of a suite, its artifacts are the reports. Suites: ${names.join(', ')}.`,
    skills: [...suites.values()].map(({ loaded }) => skillOf(loaded)),
    extensions: [],
    async plan(turn) {
      if (turn.task === null && asksForHelp(turn)) return { kind: 'reply', text: helpText([...suites.values()]) };
      const request = readSuiteRequest(contentsOf(turn), names);
      const name = request.suite ?? (names.length === 1 ? names[0] : undefined);
      const suite = name === undefined ? undefined : suites.get(name);
      if (suite === undefined) return { kind: 'ask', question: questionOf(name, names) };
      const loaded = await loadSuite(suite.file, { env: context.env, cwd: context.cwd });
      return { kind: 'start', wanted: wantedOf(context, loaded, request) };
    },
    progress: (row) => progressText(db, row),
    decidingCase: null,
    stateOfEnd,
    end: (row) => endOf(db, row),
  };
}

function skillOf({ suite, cases }: LoadedSuite): AgentSkill {
  return {
    id: suite.name,
    name: suite.name,
    description: suite.description ?? `Evaluates ${cases.length} cases (${suite.kind}).`,
    tags: ['evaluation', suite.kind],
    examples: [`Run ${suite.name}`, JSON.stringify({ suite: suite.name, trials: 3 })],
    inputModes: INPUT_MODES,
    outputModes: OUTPUT_MODES,
    securityRequirements: [],
  };
}

function contentsOf({ message, task }: Turn): Content[] {
  const earlier = (task?.history ?? [])
    .map((stored) => Message.fromJSON(stored))
    .filter((one) => one.role === message.role);
  return [...earlier, message].map(contentOf);
}

/** `help`, `list`, `suites` or `?`, and nothing else. */
function asksForHelp({ message }: Turn): boolean {
  const { text, data } = contentOf(message);
  return data.length === 0 && /^\s*(help|list|suites|\?)\s*[.!?]*\s*$/i.test(text);
}

function helpText(suites: readonly { loaded: LoadedSuite }[]): string {
  const lines = suites.map(({ loaded: { suite, cases } }) => {
    const description = suite.description === undefined ? '' : `: ${suite.description}`;
    return `- ${suite.name} (${suite.kind}, ${cases.length} cases)${description}`;
  });
  return `Name a suite, and it is evaluated:\n${lines.join('\n')}\n${OPTIONS}`;
}

const OPTIONS = 'Options go into a data part: suite, trials, concurrency, filter, limit, labels, budget_usd, baseline.';

function questionOf(name: string | undefined, names: readonly string[]): string {
  const unknown = name === undefined ? '' : `There is no suite ${JSON.stringify(name)}. `;
  return `${unknown}Which suite? One of: ${names.join(', ')}. ${OPTIONS}`;
}

/** What `assay run` would make of the same options. */
function wantedOf(context: CommandContext, loaded: LoadedSuite, request: SuiteRequest): NewEvaluation {
  const { trials, concurrency, budget_usd: budgetUsd, labels, limit } = request;
  const filter = { ...parseFilter(request.filter ?? []), ...(limit === undefined ? {} : { limit }) };
  const wanted = newEvaluation(loaded, {
    env: context.env,
    now: new Date(),
    cases: selectCases(loaded.cases, filter),
    filters: { ...filter } as Json,
    ...(trials === undefined ? {} : { trials }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(labels === undefined ? {} : { labels }),
    ...(request.baseline === undefined ? {} : { baselineLabel: request.baseline }),
  });
  requireEndpoint(context, wanted);
  return wanted;
}

async function progressText(db: Db, row: EvaluationRow): Promise<string> {
  const progress = await whileTransient(() => loadProgress(db, row.id));
  const { planned, passed, failed, unscored, errored } = progress;
  const counts = `${passed} passed, ${failed} failed, ${unscored} unscored, ${errored} errored`;
  const paused = row.status === 'paused' ? ' (paused)' : '';
  return `evaluation ${row.id}${paused}: ${endedTrials(progress)} of ${planned} trials ended (${counts})`;
}

/** An evaluation that came to its end is a completed task, whatever its gates say: that is its result. */
function stateOfEnd({ status }: Pick<EvaluationEnd, 'status'>): TaskState {
  return status === 'completed' ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_FAILED;
}

async function endOf(db: Db, row: EvaluationRow): Promise<TaskEnd> {
  const report = await storedReport(db, row);
  return {
    state: stateOfEnd({ status: row.status === 'completed' ? 'completed' : 'stopped' }),
    text: row.status === 'completed' ? report.verdict.summary : (row.stop_message ?? report.verdict.summary),
    artifacts: [
      artifactOf('report.txt', 'The report as text', [textPart(renderText(report, { width: 100, color: false }))]),
      artifactOf('report.json', 'The report as data: numbers, comparison, gates, verdict, worst cases', [
        dataPart(JSON.parse(JSON.stringify(report)) as Json),
      ]),
    ],
  };
}
