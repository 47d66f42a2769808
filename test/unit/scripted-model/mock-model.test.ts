import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { assay } from '../commands/context.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const PROGRAM = `
import { Command } from ${JSON.stringify(path.join(root, 'node_modules/commander/index.js'))};
import { registerMockModel } from ${JSON.stringify(path.join(root, 'src/commands/stack/mock-model.ts'))};
const program = new Command('assay');
const stdout = (text) => process.stdout.write(text);
const stderr = (text) => process.stderr.write(text);
registerMockModel(program, { env: {}, stdout, stderr, cwd: process.cwd(), isTty: false });
await program.parseAsync(process.argv.slice(1), { from: 'user' });
`;

/** Runs the command in a process of its own, calls it once, ends it by the signal, and gives what it printed. */
async function run(
  signal: NodeJS.Signals,
  args: string[],
): Promise<{ code: number | null; stdout: string; stderr: string; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, 'mock-model', ...args]);
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (out.stderr += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    await expect.poll(() => out.stdout, { timeout: 15_000 }).toMatch(/http:\S+?\/v1[\s\S]*\n/);
    const url = /http:[^\s"]+?\/v1/.exec(out.stdout)?.[0] ?? '';
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
    });
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    child.kill(signal);
    return { code: await exit, ...out, said: body.choices[0]?.message.content ?? '' };
  } finally {
    child.kill('SIGKILL');
  }
}

describe('assay mock-model', () => {
  it('a port that is none is wrong usage, not a defect', async () => {
    expect(await assay('mock-model', '--port', '99999')).toMatchObject({
      code: 2,
      err: expect.stringContaining('at most 65535') as string,
    });
  });

  it('prints a ready line and what to export, echoes without a script, and ends on SIGTERM', async () => {
    const { code, stdout, stderr, said } = await run('SIGTERM', []);
    const url = /^listening on (http:\/\/127\.0\.0\.1:\d+\/v1)\n/.exec(stdout)?.[1];
    expect(stdout).toContain(`\nexport OPENAI_BASE_URL=${url}\nexport OPENAI_API_KEY=`);
    expect(stderr).toBe('1 calls, 1 answered, 0 repeated\n');
    expect([code, said]).toEqual([0, 'hello']);
  });

  it('--json prints the address, and the statistics at the end on SIGINT', async () => {
    const { code, stdout } = await run('SIGINT', ['--json', '--delay-ms', '5']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ url: expect.stringMatching(/\/v1$/) as string });
    expect(lines[1]).toMatchObject({ calls: 1, answered: 1, byRule: { default: 1 } });
    expect(code).toBe(0);
  });
});
