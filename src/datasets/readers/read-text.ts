import { open, stat } from 'node:fs/promises';
import { errorAt } from './source.ts';
import type { Report } from './source.ts';

/** Largest file read whole (YAML, JSON, prompts); bigger datasets belong into JSON lines, which are streamed. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Reads a UTF-8 file whole; a byte-order mark is dropped. Reports, and gives null for, a file that does not exist or
 * cannot be read, is larger than {@link MAX_FILE_BYTES}, or is not UTF-8 (with the line).
 * @param file the name used in problems
 */
export async function readText(absolutePath: string, file: string, report: Report): Promise<string | null> {
  const whole = { file, line: 0, column: 0 };
  let bytes: Buffer;
  try {
    const handle = await open(absolutePath);
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES) {
        const megabytes = Math.round(size / 1024 / 1024);
        report(errorAt(whole, `${megabytes} MB is too large to read whole; write it as JSON lines (.jsonl)`));
        return null;
      }
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    report(errorAt(whole, unreadable(error)));
    return null;
  }
  const decoded = decodeUtf8(bytes);
  if (decoded.ok) return decoded.text;
  report(errorAt({ file, line: decoded.line, column: 1 }, decoded.error));
  return null;
}

/** Why there is no file to read at a path; null: there is one. */
export async function notAFile(absolutePath: string): Promise<string | null> {
  try {
    return (await stat(absolutePath)).isDirectory() ? IS_A_FOLDER : null;
  } catch (error) {
    return unreadable(error);
  }
}

const IS_A_FOLDER = 'is a folder; expected a file';

/** What a failed read means to a user. */
export function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file';
  if (code === 'EISDIR') return IS_A_FOLDER;
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read (permission denied)';
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

/** Decodes UTF-8 without replacing anything; says on which line the first bad byte is. */
function decodeUtf8(bytes: Uint8Array): { ok: true; text: string } | { ok: false; line: number; error: string } {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return { ok: false, line: 1, error: 'UTF-16 text; save the file as UTF-8' };
  }
  const whole = tryDecode(bytes);
  if (whole !== null) return { ok: true, text: whole };
  let line = 1;
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(0x0a, from);
    const to = end === -1 ? bytes.length : end + 1;
    if (tryDecode(bytes.subarray(from, to)) === null) break;
    from = to;
    line++;
  }
  return { ok: false, line, error: 'not valid UTF-8; save the file as UTF-8' };
}

function tryDecode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
