import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { listOf, whole } from '../flag-parsers.ts';

const QUEUES = ['main', 'agent', 'judge'] as const;

interface WorkerFlags {
  queues: (typeof QUEUES)[number][];
  concurrency?: number;
}

const HELP = `
Examples:
  $ TEMPORAL_ADDRESS=temporal:7233 DATABASE_URL=postgresql://… assay worker
  $ assay worker --queues agent --concurrency 100       only the agent's steps (with ASSAY_AGENT_TASK_QUEUE set)

Prints READY on standard output once it polls. Any number of workers may run; one that dies is replaced by the others.
SIGTERM and Ctrl-C let it hand its trials on, then it ends with 0; a second one ends it at once.
The schema must be current: \`assay db migrate\`.
Exit codes: 0 stopped, 4 Temporal or Postgres cannot be used, or it died.`;

/** `assay worker`: serves the steps of evaluations until it is told to stop. */
export function registerWorker(program: Command, context: CommandContext): void {
  program
    .command('worker')
    .description('run a worker of a fleet: serve evaluations until told to stop')
    .addOption(
      new Option('--queues <queues>', `which task queues to serve: ${QUEUES.join(', ')}; several separated by commas`)
        .argParser(listOf(QUEUES))
        .default([...QUEUES], 'all'),
    )
    .option('--concurrency <n>', 'activities at once; default ASSAY_MAX_ACTIVITIES, else 300', whole(1))
    .addHelpText('after', HELP)
    .action(async (flags: WorkerFlags) => {
      const { serveWorker } = await import('./serve-worker.ts');
      await serveWorker(context, flags);
    });
}
