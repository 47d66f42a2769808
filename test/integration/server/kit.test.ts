import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path, { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgentService } from '../../../src/server/a2a/agent-service.ts';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { createKitService } from './support/kit-service.ts';
import { KIT_0_3, KIT_1_0 } from './support/kit-table.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';

/**
 * The official A2A conformance kit, where it is there: ASSAY_A2A_KIT names a checkout of a2aproject/a2a-tck (branch
 * 1.0-dev), ASSAY_A2A_KIT_03 one of branch 0.3.x, ASSAY_A2A_KIT_PYTHON a Python with what they need. What they demand is
 * tested without them in conformance.test.ts.
 */
const PYTHON = process.env['ASSAY_A2A_KIT_PYTHON'] ?? 'python3';

/**
 * The kit's text says that the request must fail, its code, which names no expected error, that it must succeed. The
 * specification of 1.0 (3.1.1, errors of Send Message) is with the text: "ContentTypeNotSupportedError: A Media Type
 * provided in the request's message parts is not supported by the agent." So it fails here.
 */
const CONTRADICTORY = [
  'test_must_requirement[CORE-SEND-003-jsonrpc]',
  'test_must_requirement[CORE-SEND-003-http_json]',
];

let rig: ServerRig;
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }], delay_ms: 300 });
});
afterAll(() => rig.close());

/** Names of the kit's tests that failed, and its output. */
async function runKit(folder: string, args: string[]): Promise<{ failed: string[]; passed: number; output: string }> {
  const env = { ...process.env, PATH: `${dirname(PYTHON)}:${process.env['PATH'] ?? ''}` };
  const child = spawn(PYTHON, ['run_tck.py', ...args], { cwd: folder, env });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  const failed = [...output.matchAll(/^(?:FAILED|ERROR) \S*::(\S+)/gm)].map(([, name = '']) => name);
  return { failed: [...new Set(failed)].sort(), passed: Number(/(\d+) passed/.exec(output)?.[1] ?? 0), output };
}

const kit1 = process.env['ASSAY_A2A_KIT'] ?? '';
test.skipIf(!existsSync(kit1))(
  'the kit for protocol 1.0 finds no failure of what is mandatory',
  async () => {
    const served = await createKitService(rig, rig.suite('kit', 1));
    const server = await rig.serve(served, { allowPrivateWebhooks: true });
    const { failed, passed, output } = await runKit(kit1, ['--sut-host', server.url, '--level', 'must']);
    expect(failed, output.slice(-3_000)).toEqual([...CONTRADICTORY].sort());
    expect(passed, output).toBeGreaterThan(100);
  },
  900_000,
);

const kit03 = process.env['ASSAY_A2A_KIT_03'] ?? '';
test.skipIf(!existsSync(kit03))(
  'the kit for protocol 0.3 finds no failure of what is mandatory',
  async () => {
    const served = await createKitService(rig, rig.suite('kit03', 1), { waits: true });
    const server = await rig.serve(served, { cardForm: '0.3' });
    const { failed, passed, output } = await runKit(kit03, ['--sut-url', server.url, '--category', 'mandatory']);
    expect(failed, output.slice(-6_000)).toEqual([]);
    expect(passed, output).toBeGreaterThanOrEqual(31);
  },
  900_000,
);

/** What the optional categories ask that is not so here, and why it stays. */
const NOT_SO = {
  // A suite server takes its options only: a key it does not know is an error, not ignored.
  test_message_send_enhanced_parts_support: 'suites',
  // A blocking answer is the task at rest: it waits for its suite, or has ended; the kit wants it working still.
  test_task_state_transitions: 'both',
  // The agent's task has ended, and takes no further message and no cancel.
  test_message_send_continue_with_contextid: 'agent',
  test_partial_update_recovery: 'agent',
  test_task_cancel_state_handling: 'agent',
};
const OPTIONAL = {
  capabilities: ['test_message_send_enhanced_parts_support', 'test_message_send_continue_with_contextid'],
  'transport-equivalence': [],
  quality: ['test_partial_update_recovery', 'test_task_cancel_state_handling', 'test_task_state_transitions'],
  features: [],
} satisfies Record<string, (keyof typeof NOT_SO)[]>;

describe.each(['suites', 'agent'] as const)('what is optional in the kits, for %s', (what) => {
  const served = (name: string): ReturnType<typeof createSuiteService> => {
    const deps = { context: rig.context, db: rig.session.db };
    if (what === 'agent') return createAgentService({ ...deps, file: rig.suite(`${name}-agent`, 1) });
    return createSuiteService({ ...deps, files: [rig.suite(`${name}-a`, 1), rig.suite(`${name}-b`, 1)] });
  };

  test.skipIf(!existsSync(kit03)).each(Object.entries(OPTIONAL))(
    '0.3: %s',
    async (category, asked) => {
      const server = await rig.serve(await served(`03-${category}`), { cardForm: '0.3', allowPrivateWebhooks: true });
      const { failed, passed, output } = await runKit(kit03, ['--sut-url', server.url, '--category', category]);
      expect(failed, output.slice(-6_000)).toEqual(
        asked.filter((name) => ['both', what].includes(NOT_SO[name])).sort(),
      );
      expect(passed, output).toBeGreaterThan(9);
      await server.close();
    },
    300_000,
  );

  test.skipIf(!existsSync(kit1)).each([
    ['should', []],
    // A Last-Modified header of the card: ETag and Cache-Control are there.
    ['may', ['test_last_modified_present']],
  ])(
    '1.0: %s',
    async (level, expected) => {
      const server = await rig.serve(await served(`10-${level}`), { allowPrivateWebhooks: true });
      const { failed, passed, output } = await runKit(kit1, ['--sut-host', server.url, '--level', level]);
      expect(failed, output.slice(-6_000)).toEqual(expected);
      expect(passed, output).toBeGreaterThan(3);
      await server.close();
    },
    300_000,
  );
});

describe('the table of the kit', () => {
  const titlesOf = (file: string): string[] => {
    const source = readFileSync(path.join(import.meta.dirname, file), 'utf8');
    // Nothing there may be left out, on any condition: it would show nothing.
    expect(source).not.toMatch(/\.(skip|skipIf|runIf|todo|fails|only)\b/);
    const titles = [...source.matchAll(/\btest(?:\.each\([^)]*\)|\.each\(\[[\s\S]*?\]\))?\('([^']+)'/g)];
    const rows = [...source.matchAll(/^ {4}\['([^']+)', ?'/gm)].map(([, what = '']) => `envelope: ${what}`);
    return [...titles.map(([, title = '']) => title).filter((title) => !title.includes('%s')), ...rows];
  };

  test.each(Object.entries({ ...KIT_1_0, ...KIT_0_3 }))('%s is shown by tests that are there', (_kit, proof) => {
    if ('notHere' in proof) return expect(proof.notHere).not.toBe('');
    expect(proof.length).toBeGreaterThan(0);
    for (const { file, test: title } of proof) expect(titlesOf(file)).toContain(title);
  });

  /** Mandatory tests of a kit by name, once for all transports. */
  const collected = (folder: string, tests: string, marker: string): string[] => {
    const args = ['-m', 'pytest', tests, '-m', marker, '--collect-only', '-q', '--sut-url', 'http://x'];
    const options = tests.includes('mandatory') ? args : args.slice(0, -2);
    const output = execFileSync(PYTHON, options, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = output.split('\n').filter((line) => line.includes('::'));
    const names = lines.map((line) =>
      line
        .replace(/^tests\/\w+\//, '')
        .replace(/\[(grpc|jsonrpc|http_json)\]$/, '')
        .replace(/-(grpc|jsonrpc|http_json)\]$/, ']'),
    );
    return [...new Set(names)].sort();
  };

  test.skipIf(!existsSync(kit1))('holds every mandatory test of the kit for 1.0', () => {
    expect(collected(kit1, 'tests/compatibility', 'must')).toEqual(Object.keys(KIT_1_0).sort());
  });

  test.skipIf(!existsSync(kit03))('holds every mandatory test of the kit for 0.3', () => {
    const marker = 'mandatory_jsonrpc or mandatory_protocol';
    expect(collected(kit03, 'tests/mandatory', marker)).toEqual(Object.keys(KIT_0_3).sort());
  });
});
