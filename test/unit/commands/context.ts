import { main } from '../../../src/client.ts';

/** Runs a command line in this process, without environment and terminal. */
export async function assay(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' };
  const code = await main(['node', 'assay', ...args], {
    env: {},
    cwd: '/nowhere',
    isTty: false,
    stdout: (text) => void (printed.out += text),
    stderr: (text) => void (printed.err += text),
  });
  return { code, ...printed };
}
