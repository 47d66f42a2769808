import type { Command } from 'commander';
import { registerBaseline } from './baseline.ts';
import { registerCancel } from './cancel.ts';
import type { CommandContext } from './context.ts';
import { registerDb } from './db.ts';
import { registerDelete } from './delete.ts';
import { registerDoctor } from './doctor.ts';
import { registerGate } from './gate.ts';
import { registerImport } from './import.ts';
import { registerInit } from './init.ts';
import { registerLint } from './lint.ts';
import { registerList } from './list.ts';
import { registerMockModel } from './mock-model.ts';
import { registerPause } from './pause.ts';
import { registerReport } from './report.ts';
import { registerResume } from './resume.ts';
import { registerRetry } from './retry.ts';
import { registerRun } from './run.ts';
import { registerSchedule } from './schedule.ts';
import { registerScore } from './score.ts';
import { registerShow } from './show.ts';
import { registerSql } from './sql.ts';
import { registerStatus } from './status.ts';
import { registerUnpause } from './unpause.ts';
import { registerUp } from './up.ts';
import { registerWorker } from './worker.ts';

type Register = (program: Command, context: CommandContext) => void;

/** Every subcommand, in the groups and the order `--help` lists them. */
const GROUPS: readonly (readonly [heading: string, commands: readonly Register[]])[] = [
  ['Evaluate:', [registerInit, registerLint, registerRun, registerSchedule]],
  [
    'Control:',
    [registerStatus, registerResume, registerRetry, registerPause, registerUnpause, registerCancel, registerDelete],
  ],
  ['Results:', [registerList, registerShow, registerReport, registerGate, registerBaseline, registerSql]],
  ['Data:', [registerImport, registerScore]],
  ['Operate:', [registerUp, registerWorker, registerDb, registerDoctor, registerMockModel]],
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
