import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findByArgument, findByWorkingFolder } from '../../src/local/process-identity.ts';
import { cleanEnv, runAssay, startAssay } from './support/program.ts';

/** A signal while the embedded servers are still starting, the first time ever in a folder. */
describe('a command that is stopped while servers start', () => {
  let folder: string;
  let home: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'assay-start-'));
    chmodSync(folder, 0o755);
    home = path.join(folder, '.assay');
    env = cleanEnv({ ASSAY_HOME: home, NO_COLOR: '1' });
    const made = await runAssay(['init', folder], { cwd: folder, env });
    expect(made.code, made.stderr).toBe(0);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  test.each([
    { args: ['up'], signal: 'SIGINT', code: 0 },
    { args: ['worker'], signal: 'SIGTERM', code: 0 },
    { args: ['serve', 'suite.yaml', '--port', '0'], signal: 'SIGTERM', code: 0 },
    { args: ['run', 'suite.yaml'], signal: 'SIGINT', code: 130 },
  ] as const)(
    '$args leaves soon with $code, no server and nothing half made behind',
    async ({ args, signal, code }) => {
      const program = startAssay([...args], { cwd: folder, env });
      await program.until(/creating the Postgres data folder/);
      const begin = performance.now();
      program.kill(signal);
      expect(await program.exited).toBe(code);
      // A busy machine takes some seconds; the whole start takes longer.
      expect(performance.now() - begin).toBeLessThan(15_000);
      expect(program.stdout()).toBe('');
      expect(program.stderr()).toContain('stopping');
      expect(program.stderr()).not.toMatch(/error|failed|defect/i);
      if (code === 130) expect(program.stderr()).toContain('run the same command again');
      for (const name of ['postgres', 'postgres.new', 'temporal.db']) {
        expect(findByArgument(path.join(home, name)), name).toEqual([]);
        expect(findByWorkingFolder(path.join(home, name)), name).toEqual([]);
      }
      expect(existsSync(path.join(home, 'postgres.new'))).toBe(false);
      expect(readdirSync(path.join(home, 'users'))).toEqual([]);
    },
  );
});
