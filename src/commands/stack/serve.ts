import { type Command, Option } from 'commander';
import { InvalidArgumentError } from 'commander';
import { UserError } from '../../core/errors.ts';
import type { Served } from '../../server/a2a/served.ts';
import type { ServeOptions } from '../../server/serve.ts';
import type { RunningWorker } from '../../worker.ts';
import type { CommandContext } from '../context.ts';
import { whole } from '../flag-parsers.ts';
import { unlessAborted } from '../interruptible.ts';
import type { Session } from '../session.ts';
import { type StopSignal, stopSignal } from '../stop-signal.ts';

interface ServeFlags {
  agent?: string;
  host: string;
  port: number;
  publicUrl?: string;
  rateLimit: number;
  maxTasks: number;
  allowPrivateWebhooks?: boolean;
  card: '0.3' | '1.0';
  worker: boolean;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay serve suites/*.yaml                      each suite is a skill; a message starts an evaluation
  $ assay serve --agent suite.yaml --port 8701     the agent of a suite, as an A2A agent
  $ ASSAY_SERVE_TOKEN=… assay serve suite.yaml --host 0.0.0.0 --public-url https://assay.example

The agent card is at /.well-known/agent-card.json; protocols 1.0 and 0.3 over JSON-RPC and HTTP+JSON (docs/a2a.md).
Other hosts than this one reach it only with a token (ASSAY_SERVE_TOKEN). Tasks are evaluations: they survive this
command, \`assay status\` shows them. Exit codes: 0 stopped, 2 wrong usage or input, 4 infrastructure.`;

/** `assay serve`: suites, or the agent of one, as an A2A agent. */
export function registerServe(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .argument('[suites...]', 'suite files; each is a skill')
    .description('publish suites, or the agent of one, as an A2A agent; Ctrl-C stops it, tasks are kept')
    .option('--agent <suite>', 'publish the agent of this suite instead')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 = any free one', whole(0, 65_535), 8700)
    .option('--public-url <url>', 'address clients use, where it is another one', publicUrl)
    .option('--rate-limit <n>', 'requests a minute of one client', whole(1), 600)
    .option('--max-tasks <n>', 'tasks that may run at once; more are rejected', whole(1), 20)
    .option('--allow-private-webhooks', 'send push notifications to private and loopback addresses too')
    .addOption(
      new Option('--card <version>', 'form of the card for clients that do not say which protocol they speak')
        .choices(['0.3', '1.0'])
        .default('0.3'),
    )
    .option('--no-worker', 'leave the work to other workers')
    .option('--json', 'print the address as one JSON object')
    .addHelpText('after', HELP)
    .action(async (suites: string[], flags: ServeFlags) => {
      const stop = stopSignal({ onFirst: () => context.stderr('stopping … (Ctrl-C again to leave at once)\n') });
      try {
        await serveUntil(stop, context, suites, flags);
      } catch (error) {
        // Stopped while it was starting: that is what was asked for.
        if (error !== stop.signal.reason) throw error;
      } finally {
        stop.dispose();
      }
    });
}

async function serveUntil(
  stop: StopSignal,
  context: CommandContext,
  suites: readonly string[],
  flags: ServeFlags,
): Promise<void> {
  const [{ readConfig }, { serveOptions }, { openSession }, { serveA2a }] = await Promise.all([
    import('../../config.ts'),
    import('./serve-options.ts'),
    import('../session.ts'),
    import('../../server/serve.ts'),
  ]);
  const { serveToken } = readConfig(context.env, context.cwd);
  const options: ServeOptions = serveOptions(flags, serveToken ?? null, (line) => context.stderr(`${line}\n`));
  if ((flags.agent === undefined) === (suites.length === 0)) {
    throw new UserError('Name the suites to serve, or one with --agent.', {
      hint: '`assay serve suite.yaml`, or `assay serve --agent suite.yaml`',
    });
  }
  const session = await openSession(context, stop.signal);
  try {
    const served = await unlessAborted(stop.signal, servedOf(context, session, suites, flags.agent));
    const worker = flags.worker ? await unlessAborted(stop.signal, startWorker(context, session)) : null;
    try {
      const server = await serveA2a(context, session, served, options);
      say(context, server.url, flags.json === true);
      try {
        await Promise.race([stop.asked, worker?.failed ?? new Promise<never>(() => undefined)]);
      } finally {
        await server.close();
      }
    } finally {
      await worker?.stop();
    }
  } finally {
    await session.close();
  }
}

async function servedOf(
  context: CommandContext,
  { db }: Session,
  suites: readonly string[],
  agent: string | undefined,
): Promise<Served> {
  if (agent !== undefined) {
    const { createAgentService } = await import('../../server/a2a/agent-service.ts');
    return createAgentService({ context, db, file: agent });
  }
  const { createSuiteService } = await import('../../server/a2a/suite-service.ts');
  return createSuiteService({ context, db, files: suites });
}

async function startWorker(context: CommandContext, session: Session): Promise<RunningWorker> {
  const { startOwnWorker } = await import('./own-worker.ts');
  return startOwnWorker(context, session);
}

function say(context: CommandContext, url: string, json: boolean): void {
  if (json) context.stdout(`${JSON.stringify({ url, card: `${url}/.well-known/agent-card.json` })}\n`);
  else context.stdout(`serving on ${url}\n  card: ${url}/.well-known/agent-card.json\nready; Ctrl-C stops\n`);
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}` !== '') {
    throw new InvalidArgumentError('Expected an address such as https://assay.example.');
  }
  return url.href.replace(/\/$/, '');
}
