import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CommandContext } from '../../../../src/commands/context.ts';
import type { Session } from '../../../../src/commands/session.ts';
import { type RunningServer, serveA2a, type ServeOptions } from '../../../../src/server/serve.ts';
import type { Served } from '../../../../src/server/a2a/served.ts';
import { openRig, type Rig, type RigOptions, type TestModel } from '../../workflows/support/rig.ts';

/** A server over the shared services, with suites on disk and a scripted model behind their agents. */
export interface ServerRig {
  rig: Rig;
  model: TestModel;
  folder: string;
  context: CommandContext;
  session: Session;
  /** Starts one more server process' worth of serving; closed with the rig unless closed before. */
  serve(served: Served, options?: Partial<ServeOptions>): Promise<RunningServer>;
  /** Lines the servers logged. */
  log: string[];
  /** Writes a suite of so many cases on the model; returns its file. */
  suite(name: string, cases: number, more?: string): string;
  close(): Promise<void>;
}

const OPTIONS: ServeOptions = {
  host: '127.0.0.1',
  port: 0,
  publicUrl: null,
  token: null,
  rateLimit: 1_000_000,
  maxTasks: 20,
  allowPrivateWebhooks: false,
  cardForm: '1.0',
  ownWorker: true,
  log: () => undefined,
};

export async function openServerRig(script: object, options: RigOptions = {}): Promise<ServerRig> {
  const rig = await openRig(options);
  const model = await rig.model(script);
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-serve-'));
  const context: CommandContext = {
    env: { OPENAI_API_KEY: 'sk-test-not-a-real-key', OPENAI_BASE_URL: model.url },
    stdout: () => undefined,
    stderr: () => undefined,
    cwd: folder,
    isTty: false,
  };
  const stack = { embedded: { temporal: false, postgres: false } } as Session['stack'];
  const session: Session = {
    config: rig.config,
    stack,
    db: rig.db,
    client: rig.client,
    close: () => Promise.resolve(),
  };
  const servers = new Set<RunningServer>();
  const log: string[] = [];
  return {
    rig,
    model,
    folder,
    context,
    session,
    log,
    async serve(served, more = {}) {
      const server = await serveA2a(context, session, served, {
        ...OPTIONS,
        log: (line) => void log.push(line),
        ...more,
      });
      servers.add(server);
      return {
        url: server.url,
        async close() {
          servers.delete(server);
          await server.close();
        },
      };
    },
    suite(name, cases, more = '') {
      const rows = Array.from({ length: cases }, (_, index) => ({
        id: `c${index + 1}`,
        input: `say hello ${index + 1}`,
        expected: { answer_contains: ['hello'] },
      }));
      writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(rows));
      const file = path.join(folder, `${name}.yaml`);
      const agent = `agent: { type: openai, model: m, base_url: '${model.url}' }`;
      writeFileSync(file, `name: ${name}\nkind: deep\ndatasets: [${name}.json]\n${agent}\n${more}`);
      return file;
    },
    async close() {
      await Promise.all([...servers].map((server) => server.close()));
      await rig.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
