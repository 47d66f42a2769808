import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Appends lines to a file under the stack's `logs` folder: a worker inside a command must not write over its progress. A new
 * file is its owner's only: lines can quote cases.
 */
export function fileLog(home: string, name: string): (line: string) => void {
  const folder = path.join(home, 'logs');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  return (line) => {
    try {
      appendFileSync(file, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
    } catch {
      // A full disk or a removed folder costs log lines, not the evaluation.
    }
  };
}
