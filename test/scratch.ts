import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder for what unit tests write. Their files share processes, so a hook of a shared helper runs for the first file only. */
    scratch: string;
  }
}

/** vitest globalSetup: a folder that is removed when the last unit test has run. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'assay-unit-'));
  project.provide('scratch', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
