import type { Command } from 'commander';
import { registerBaseline } from './results/baseline.ts';
import { registerCalibrate } from './results/calibrate.ts';
import { registerCancel } from './run/cancel.ts';
import type { CommandContext } from './context.ts';
import { registerCompare } from './results/compare.ts';
import { registerDb } from './stack/db.ts';
import { registerDelete } from './results/delete.ts';
import { registerDoctor } from './stack/doctor.ts';
import { registerExport } from './suites/export.ts';
import { registerGate } from './results/gate.ts';
import { registerImport } from './suites/import.ts';
import { registerInit } from './suites/init.ts';
import { registerLint } from './suites/lint.ts';
import { registerList } from './results/list.ts';
import { registerMockModel } from './stack/mock-model.ts';
import { registerPause } from './run/pause.ts';
import { registerReport } from './results/report.ts';
import { registerReview } from './results/review.ts';
import { registerRescore } from './results/rescore.ts';
import { registerResume } from './run/resume.ts';
import { registerRetry } from './run/retry.ts';
import { registerRun } from './run/run.ts';
import { registerSchedule } from './schedule/schedule.ts';
import { registerScore } from './suites/score.ts';
import { registerShow } from './results/show.ts';
import { registerSql } from './results/sql.ts';
import { registerStatus } from './results/status.ts';
import { registerUnpause } from './run/unpause.ts';
import { registerUp } from './stack/up.ts';
import { registerServe } from './stack/serve.ts';
import { registerWorker } from './stack/worker.ts';

type Register = (program: Command, context: CommandContext) => void;

/** Every subcommand, in the groups and the order `--help` lists them. */
const GROUPS: readonly (readonly [heading: string, commands: readonly Register[]])[] = [
  ['Evaluate:', [registerInit, registerLint, registerRun, registerSchedule]],
  [
    'Control:',
    [registerStatus, registerResume, registerRetry, registerPause, registerUnpause, registerCancel, registerDelete],
  ],
  [
    'Results:',
    [
      registerList,
      registerShow,
      registerReport,
      registerCompare,
      registerRescore,
      registerGate,
      registerBaseline,
      registerReview,
      registerCalibrate,
      registerSql,
    ],
  ],
  ['Data:', [registerImport, registerExport, registerScore]],
  ['Operate:', [registerUp, registerServe, registerWorker, registerDb, registerDoctor, registerMockModel]],
];

const HELP = `
Start here:
  $ assay init my-evals && cd my-evals      a first suite that runs at once
  $ assay run suite.yaml                    run it, read the report; the exit code is the verdict
  $ assay show latest CASE 1                one trial step by step

Exit codes: 0 gates passed or done, 1 a gate failed, 2 wrong usage or input, 3 incomplete, 4 infrastructure or model
endpoint, 130 interrupted.`;

export function registerCommands(program: Command, context: CommandContext): void {
  program.addHelpText('after', HELP);
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, context);
  }
}
