import { readFile } from 'node:fs/promises';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { z } from 'zod';
import { InputError, UserError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import { scriptSchema, toScript } from './script.schema.ts';
import type { Script } from './script.ts';

/** Reads a script file. @throws UserError when it cannot be read; InputError with every problem as file:line:column */
export async function readScript(file: string): Promise<Script> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : errorText(error);
    throw new UserError(`The model script ${file} cannot be read: ${why}`, {
      hint: 'Give the path of a YAML file of rules (docs/scripted-model.md), or none for a model that echoes.',
      cause: error,
    });
  }
  return parseScript(text, file);
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Checks the text of a script. @throws InputError with every problem as file:line:column */
export function parseScript(text: string, file: string): Script {
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { lineCounter: lines, version: '1.2' });
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Warnings are unknown tags: nothing in a script needs one.
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw new InputError(
      faults.map((fault): Problem => ({
        severity: 'error',
        file,
        ...at(fault.pos[0]),
        message: fault.message.split('\n')[0] ?? fault.message,
      })),
    );
  }
  const result = scriptSchema.safeParse(toPlain(document, file) ?? {});
  if (result.success) return toScript(result.data, file);
  throw new InputError(
    result.error.issues.map((issue): Problem => ({
      severity: 'error',
      file,
      ...at(offsetOf(document, issue)),
      message: describe(issue),
    })),
  );
}

function toPlain(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new InputError([{ severity: 'error', file, line: 0, column: 0, message: error.message }]);
  }
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

/** Where the issue's value stands; the nearest parent that is there when it is missing. */
function offsetOf(document: Document.Parsed, issue: z.core.$ZodIssue): number {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys') {
    const parent = path.length === 0 ? document.contents : document.getIn(path, true);
    const key = issue.keys[0];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
      if (pair !== undefined && isScalar(pair.key) && pair.key.range) return pair.key.range[0];
    }
  }
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const offset = startOf(node);
    if (offset !== null) return offset;
  }
  return 0;
}

function startOf(node: unknown): number | null {
  if (typeof node !== 'object' || node === null || !('range' in node)) return null;
  const { range } = node;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : null;
}
