import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';
import type { Session } from '../session.ts';
import { startEvaluation } from './start-evaluation.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

/**
 * Starts an evaluation and returns. On the embedded stack a background `assay up --until-idle` does the work and ends
 * by itself; a configured Temporal is left to its workers.
 */
export async function detach(context: CommandContext, session: Session, row: EvaluationRow): Promise<void> {
  await whileUnavailable(() => startEvaluation(session.client, session.config.taskQueue, row));
  if (session.stack.embedded.temporal || session.stack.embedded.postgres) {
    const log = startBackground(context, session.config.home);
    context.stderr(`running in the background (log: ${log}); it ends when nothing is left to do\n`);
  }
  context.stdout(`${row.id}\n`);
  context.stderr(`  assay status ${row.id}    progress\n  assay resume ${row.id}    follow it\n`);
}

function startBackground(context: CommandContext, home: string): string {
  const log = path.join(home, 'logs', 'up.log');
  mkdirSync(path.dirname(log), { recursive: true });
  const entry = process.argv[1] ?? '';
  const output = openSync(log, 'a', 0o600);
  const env = Object.fromEntries(Object.entries(context.env).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  spawn(process.execPath, [entry, 'up', '--until-idle'], {
    cwd: context.cwd,
    env,
    detached: true,
    stdio: ['ignore', output, output],
  }).unref();
  return log;
}
