import path from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { whole } from '../flag-parsers.ts';

interface MockModelFlags {
  port: number;
  host: string;
  delayMs?: number;
  json?: boolean;
}

/** `assay mock-model [SCRIPT]`: the scripted model in the foreground, until SIGINT or SIGTERM. */
export function registerMockModel(program: Command, context: CommandContext): void {
  program
    .command('mock-model')
    .description('an OpenAI-compatible model that answers from a script: offline runs, tests, faults on purpose')
    .argument('[script]', 'YAML file of rules (docs/scripted-model.md); without one it echoes the user')
    .option('--port <port>', 'port to listen on; 0 = any free one', whole(0, 65_535), 0)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option(
      '--delay-ms <ms>',
      "delay of every reply without one of its own, in place of the script's",
      whole(0, 86_400_000),
    )
    .option('--json', 'print the address, and at the end the statistics, as JSON lines')
    .action(async (script: string | undefined, flags: MockModelFlags) => {
      await runMockModel(script, flags, context);
    });
}

async function runMockModel(script: string | undefined, flags: MockModelFlags, context: CommandContext): Promise<void> {
  const { startScriptedModel } = await import('../../scripted-model/server.ts');
  const { ECHO_SCRIPT } = await import('../../scripted-model/script.ts');
  const { stopSignal } = await import('../stop-signal.ts');
  const stop = stopSignal();
  const model = await startScriptedModel({
    ...(script === undefined ? { script: ECHO_SCRIPT } : { scriptPath: path.resolve(context.cwd, script) }),
    port: flags.port,
    host: flags.host,
    ...(flags.delayMs === undefined ? {} : { delayMs: flags.delayMs }),
  });
  if (flags.json === true) context.stdout(`${JSON.stringify({ url: model.url, port: model.port })}\n`);
  else {
    context.stdout(`listening on ${model.url}\n`);
    context.stdout(`\nexport OPENAI_BASE_URL=${model.url}\nexport OPENAI_API_KEY=scripted\n`);
  }
  await stop.asked;
  const stats = model.stats();
  await model.close();
  stop.dispose();
  if (flags.json === true) context.stdout(`${JSON.stringify(stats)}\n`);
  else context.stderr(`${stats.calls} calls, ${stats.answered} answered, ${stats.repeated} repeated\n`);
}
