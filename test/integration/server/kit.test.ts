import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKitService } from './support/kit-service.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';

/**
 * The official A2A conformance kit, where it is there: ASSAY_A2A_KIT names a checkout of a2aproject/a2a-tck (branch
 * 1.0-dev) and ASSAY_A2A_KIT_PYTHON a Python with what it needs. What it demands is tested without it in
 * conformance.test.ts.
 */
const KIT = process.env['ASSAY_A2A_KIT'] ?? '';
const PYTHON = process.env['ASSAY_A2A_KIT_PYTHON'] ?? 'python3';

let rig: ServerRig;
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }], delay_ms: 300 });
});
afterAll(() => rig.close());

test.skipIf(KIT === '' || !existsSync(KIT))(
  'the conformance kit finds no failure of what is mandatory',
  async () => {
    const server = await rig.serve(await createKitService(rig, rig.suite('kit', 1)), { allowPrivateWebhooks: true });
    const child = spawn(PYTHON, ['run_tck.py', '--sut-host', server.url, '--level', 'must'], { cwd: KIT });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    console.log(output.slice(-6_000));
    expect(code, output.slice(-3_000)).toBe(0);
  },
  900_000,
);
