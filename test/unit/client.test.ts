import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * A command that goes on (mock-model), beside a call to Temporal that waits for its next try when its connection is
 * closed: nobody listens at port 1. The call throws from a timer within a second; what the command line made of it is
 * seen before its own listener lets it pass.
 */
const PROGRAM = `
import { Connection } from ${JSON.stringify(path.join(root, 'node_modules/@temporalio/client/lib/index.js'))};
import { start } from ${JSON.stringify(path.join(root, 'src/client.ts'))};
process.argv = ['node', 'assay', 'mock-model', '--json'];
void start();
const connection = Connection.lazy({ address: '127.0.0.1:1' });
process.on('uncaughtException', (error) => {
  process.stdout.write('passed: ' + error.message + '\\n');
  if (process.env.THEN_ANOTHER) setTimeout(() => { throw new Error('another'); });
  else process.exit(0);
});
connection.workflowService.getSystemInfo({}).catch(() => undefined);
setTimeout(() => connection.close(), 1_000);
`;

function run(env: Record<string, string>): { status: number | null; stdout: string; stderr: string } {
  const args = ['--input-type=module', '-e', PROGRAM];
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000, env: { ...process.env, ...env } });
}

test('a call to Temporal that waited for its next try when the connection was closed ends nothing', () => {
  const { status, stdout, stderr } = run({});
  expect(stderr).toBe('');
  expect(stdout).toContain('passed: Channel has been shut down');
  expect(status).toBe(0);
}, 40_000);

test('any other stray error ends the command with 4: a crash is no verdict', () => {
  const { status, stderr } = run({ THEN_ANOTHER: '1' });
  expect(stderr).toMatch(/^unexpected error: Error: another\n[^]*defect of assay/);
  expect(status).toBe(4);
}, 40_000);
