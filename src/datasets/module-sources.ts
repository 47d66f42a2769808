import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { hashText } from '../core/hash.ts';

/** What a module is made of, as far as its text tells. */
export interface ModuleSources {
  /** Content hash of the module and of each file it imports by relative path, by path from the root; null: not there. */
  files: Record<string, string | null>;
  /** Version of each package it imports, from its package.json; null: not found. */
  packages: Record<string, string | null>;
}

/** Files followed, breadth first; what lies beyond is not seen. */
const MAX_FILES = 1_000;
/** Longer files are hashed, but not searched for imports. */
const MAX_SEARCHED = 1_000_000;
const NOT_SEARCHED = /\.(json|wasm|node)$/i;

/** `import … from '…'`, `export … from '…'`, `import '…'`; not those of types, which leave no trace when it runs. */
const STATIC = /\b(?:import|export)\b(?!\s+type\b)\s*(?:[\w$*{][^'"();]{0,5000}?\bfrom\s*)?(['"])([^'"\n]+)\1/g;
/** `import('…')`, `require('…')` with a literal. */
const CALLED = /\b(?:import|require)\s*\(\s*(['"`])([^'"`\n$]+)\1/g;

/**
 * A module with the files it imports, transitively, by relative path and inside the root. Found in its text, without
 * running it: an import in a comment counts too, one with a computed path does not.
 * @param entry path of the module, relative to the root
 * @throws when the module itself cannot be read
 */
export async function moduleSources(entry: string, root: string): Promise<ModuleSources> {
  const realRoot = await realpath(root);
  const sources: ModuleSources = { files: {}, packages: {} };
  const first = await realpath(path.resolve(root, entry));
  const queue = [first];
  const seen = new Set(queue);
  for (const file of queue) {
    const text = await readText(file);
    if (text === null && file === first) throw new Error(`${file} cannot be read`);
    sources.files[nameOf(file, realRoot)] = text === null ? null : hashText(text);
    if (text === null || text.length > MAX_SEARCHED || NOT_SEARCHED.test(file)) continue;
    for (const specifier of importsOf(text)) {
      if (!/^\.{0,2}\//.test(specifier)) await addPackage(sources, specifier, file);
      else {
        const found = await locate(specifier, file);
        if (seen.has(found) || seen.size === MAX_FILES || !isInside(found, realRoot)) continue;
        seen.add(found);
        queue.push(found);
      }
    }
  }
  return sources;
}

/** What a module's text imports, each once. */
function importsOf(text: string): Set<string> {
  return new Set([...text.matchAll(STATIC), ...text.matchAll(CALLED)].map((match) => match[2] ?? ''));
}

/** The file a relative import names, links followed; as named when it is not there. */
async function locate(specifier: string, importer: string): Promise<string> {
  const named = path.resolve(path.dirname(importer), specifier.replace(/[?#].*$/, ''));
  try {
    return await realpath(named);
  } catch {
    return named;
  }
}

/** Bytes as Latin-1 text, so that every change of a file changes it; null when there is no such file. */
async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'latin1');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function isInside(file: string, root: string): boolean {
  const relative = path.relative(root, file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}

/** The same on every system and in every folder. */
function nameOf(file: string, root: string): string {
  return path.relative(root, file).split(path.sep).join('/');
}

/** Packages are told apart by version: their files are many, and an install puts the same ones there again. */
async function addPackage(sources: ModuleSources, specifier: string, importer: string): Promise<void> {
  if (/^[a-z]+:|^#/.test(specifier)) return;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  sources.packages[name] ??= await versionOf(name, path.dirname(importer));
}

async function versionOf(name: string, folder: string): Promise<string | null> {
  const text = await readText(path.join(folder, 'node_modules', name, 'package.json'));
  if (text !== null) return (/"version"\s*:\s*"([^"]+)"/.exec(text) ?? [])[1] ?? null;
  const parent = path.dirname(folder);
  return parent === folder ? null : versionOf(name, parent);
}
