import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';

/** Longest time the look may take, milliseconds. */
const CHECK_MS = 5_000;

/**
 * `file:line` of a syntax error, where it can be told: from the head of the error's stack, else for a JavaScript module
 * by having Node check the file alone, since an import of it does not say the line. Null when neither knows.
 */
export function syntaxPlace(error: SyntaxError, path: string): string | null {
  return placeIn(error.stack ?? '') ?? (/\.[cm]?js$/i.test(path) ? checkedPlace(path) : null);
}

function checkedPlace(path: string): string | null {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: CHECK_MS });
  return placeIn(stderr);
}

/** The first line is `/folder/file.ts:3` or a file URL of it; in a stack without a place it is the message. */
function placeIn(text: string): string | null {
  const found = /^(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^\n]*:\d+$/m.exec(text.split('\n', 1)[0] ?? '');
  return found === null ? null : basename(found[0].replaceAll('\\', '/'));
}
