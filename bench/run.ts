import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type CallsBenchResult, measureCalls } from './calls.ts';
import { measure, type BenchCase, type BenchResult } from './measure.ts';
import { measureScore, type ScoreBenchResult } from './score.ts';

/** `npm run bench`: what durability costs. Figures are of one run on one machine; compare ratios, not seconds. */
const CASES: BenchCase[] = [
  { name: 'overhead-200', cases: 1_000, delayMs: 200, concurrency: 50, judge: true },
  { name: 'overhead-0', cases: 1_000, delayMs: 0, concurrency: 50, judge: true },
  { name: 'scale-10k', cases: 10_000, delayMs: 200, concurrency: 100, judge: false },
];
/** Run by name only: they take many minutes. */
const LONG: BenchCase[] = [{ name: 'scale-100k', cases: 100_000, delayMs: 0, concurrency: 100, judge: false }];

/** `assay score`, which needs no stack: not an evaluation like the others. */
const SCORE = 'score-10k';
/** The cost of a model call alone. */
const CALLS = 'model-calls';

const names = [...[...CASES, ...LONG].map((one) => one.name), SCORE, CALLS];

const { values } = parseArgs({
  options: {
    case: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(`npm run bench [-- --case NAME] [--json]\n  cases: ${names.join(', ')}`);
  process.exit(0);
}
const chosen = values.case === undefined ? CASES : [...CASES, ...LONG].filter((one) => one.name === values.case);
const withScore = values.case === undefined || values.case === SCORE;
const withCalls = values.case === undefined || values.case === CALLS;
if (values.case !== undefined && !names.includes(values.case)) {
  console.error(`there is no benchmark "${values.case}"; there are ${names.join(', ')}`);
  process.exit(2);
}
if (!values.json) {
  const memory = Math.round(totalmem() / 2 ** 30);
  console.log(
    `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${memory} GiB, Node ${process.versions.node}, ${new Date().toISOString()}`,
  );
}
const build = spawnSync(process.execPath, [path.resolve(import.meta.dirname, '../scripts/build.ts')], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (build.status !== 0) process.exit(build.status ?? 1);
for (const bench of chosen) {
  const result = await measure(bench, (line) => {
    if (!values.json) console.error(line);
  });
  console.log(values.json ? JSON.stringify(result) : describe(result));
}
if (withScore) {
  const result = await measureScore();
  console.log(values.json ? JSON.stringify(result) : describeScore(result));
}
if (withCalls) {
  const result = await measureCalls();
  console.log(values.json ? JSON.stringify(result) : describeCalls(result));
}

function describeCalls(result: CallsBenchResult): string {
  return [
    `\n${result.case}: the first ${result.calls} model calls of a process, ${result.concurrency} in flight`,
    `  CPU             ${result.cpuMsPerCall} ms a call; with the global fetch ${result.cpuMsPerCallGlobalFetch} ms: ${result.ratio} of it`,
  ].join('\n');
}

function describeScore(result: ScoreBenchResult): string {
  return [
    `\n${result.case}: ${result.trajectories} recorded trajectories of ${result.callsEach} calls, assay score`,
    `  wall            ${result.wallS} s`,
    `  CPU             ${result.cpuS} s: ${result.trajectoriesPerCpuS} trajectories a CPU second (this machine parsed ${result.machineJsonMbPerS} MB of JSON a CPU second)`,
    `  peak memory     ${result.peakRssMb} MB`,
  ].join('\n');
}

function describe(result: BenchResult): string {
  const { cpuS } = result;
  return [
    `\n${result.case}: ${result.trials} trials, ${result.concurrency} in flight`,
    `  wall            ${result.wallS} s${result.idealS === null ? '' : ` = ${result.wallOverIdeal} × ideal (${result.idealS} s)`}`,
    `  rate            ${result.trialsPerS} trials/s; end ÷ start ${result.rateEndOverStart ?? '–'}`,
    `  CPU             worker ${cpuS.worker} s, Temporal ${cpuS.temporal} s, Postgres ${cpuS.postgres} s, model ${cpuS.model} s`,
    `  peak memory     ${result.peakRssMb} MB (command and worker)`,
    `  history         ${result.eventsPerTrial} events a trial`,
    `  Postgres        ${result.bytesPerTrial} bytes a trial`,
    `  model calls     ${result.modelCalls}`,
  ].join('\n');
}
