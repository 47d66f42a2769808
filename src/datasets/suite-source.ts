import { dirname, extname, join, isAbsolute } from 'node:path';
import type { Json, JsonObject } from '../core/json.ts';
import type { Problem } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { setOwn } from '../core/lossless-json.ts';
import { parseJsonSource } from './readers/read-json.ts';
import { readText } from './readers/read-text.ts';
import { parseYamlSource } from './readers/read-yaml.ts';
import { resolveInside } from './safe-path.ts';
import { describe, errorAt, valueAt } from './readers/source.ts';
import type { Path, Report, SourceValue } from './readers/source.ts';

const MAX_EXTENDS = 10;

/** Parses a YAML or JSON file by its extension; reports and gives null when it cannot be used. */
export async function readSource(absolutePath: string, file: string, report: Report): Promise<SourceValue | null> {
  const text = await readText(absolutePath, file, report);
  if (text === null) return null;
  const parse = extname(absolutePath).toLowerCase() === '.json' ? parseJsonSource : parseYamlSource;
  return parse(text, file, report);
}

/**
 * A suite file together with the files it `extends`: objects are merged key by key, lists and single values replaced by
 * the file nearer to the suite. Paths in a base file are relative to that file. Every part keeps the place where it was
 * written.
 * @param root absolute folder of the suite; bases stay under it unless the suite says `allow_outside: true`
 */
export async function readSuiteSource(
  absolutePath: string,
  file: string,
  root: string,
  report: Report,
): Promise<SourceValue | null> {
  let source = await readSource(absolutePath, file, (problem) => report(adviseOnSuite(problem)));
  if (source === null) return null;
  const allowOutside = valueAt(source.value, ['allow_outside']) === true;
  let folder = '';
  const seen = new Set([absolutePath]);
  for (let depth = 0; ; depth++) {
    if (!isJsonObject(source.value)) {
      const got = source.value === null ? 'an empty file' : describe(source.value);
      report(errorAt(source.place([]), `expected a suite (name, datasets, agent, …), got ${got}`));
      return null;
    }
    const base: Json | undefined = source.value['extends'];
    if (base === undefined) return source;
    const place = source.place(['extends']);
    if (typeof base !== 'string') {
      report(errorAt(place, `extends: expected the path of a suite file, got ${describe(base)}`));
      return null;
    }
    const path = join(folder, base);
    const safe = await resolveInside(root, path, allowOutside);
    if (!safe.ok) {
      report(errorAt(place, `extends: ${safe.error}`));
      return null;
    }
    if (seen.has(safe.absolute) || depth >= MAX_EXTENDS) {
      report(errorAt(place, `extends: ${base} extends this file in turn (or more than ${MAX_EXTENDS} levels)`));
      return null;
    }
    seen.add(safe.absolute);
    const below = await readSource(safe.absolute, join(dirname(file), path), report);
    if (below === null) return null;
    folder = dirname(path);
    source = mergeSources(rebase(below, folder), source);
  }
}

/** Own parts over base parts; `extends` of the base remains, to be followed next. */
function mergeSources(base: SourceValue, own: SourceValue): SourceValue {
  const ownValue = isJsonObject(own.value) ? { ...own.value } : {};
  delete ownValue['extends'];
  const baseValue = isJsonObject(base.value) ? base.value : {};
  const pick = (path: Path): SourceValue => (valueAt(ownValue, path) === undefined ? base : own);
  return {
    value: mergeValues(baseValue, ownValue),
    place: (path, target) => pick(path).place(path, target),
    placeOfText: (path, text) => pick(path).placeOfText(path, text),
    lostForms: [...own.lostForms, ...base.lostForms.filter((form) => valueAt(ownValue, form.path) === undefined)],
  };
}

function mergeValues(base: JsonObject, own: JsonObject): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    const mergeable = isJsonObject(below) && isJsonObject(value) && sameType(below, value);
    setOwn(merged, key, mergeable ? mergeValues(below, value) : value);
  }
  return merged;
}

/** For a suite path that leads nowhere: often the first thing a new user meets. */
function adviseOnSuite(problem: Problem): Problem {
  if (problem.line !== 0) return problem;
  return {
    ...problem,
    message: `${problem.message}; name a suite file (YAML), or write a first one with \`assay init\``,
  };
}

/** An agent of another type replaces the base's agent whole. */
function sameType(base: JsonObject, own: JsonObject): boolean {
  return own['type'] === undefined || base['type'] === undefined || own['type'] === base['type'];
}

/** Paths of a base file in another folder, made relative to the suite's folder. */
function rebase(source: SourceValue, folder: string): SourceValue {
  if (folder === '' || folder === '.' || !isJsonObject(source.value)) return source;
  const moved = (path: Json): Json => (typeof path === 'string' && !isAbsolute(path) ? join(folder, path) : path);
  const value: JsonObject = { ...source.value };
  for (const key of ['tools', 'offline_model', 'datasets', 'fixtures']) {
    const part = value[key];
    if (typeof part === 'string') value[key] = moved(part);
    else if (Array.isArray(part) && key !== 'tools') value[key] = part.map(moved);
  }
  for (const [key, field] of [
    ['agent', 'path'],
    ['judge', 'prompts'],
  ] as const) {
    const part = value[key];
    if (isJsonObject(part) && part[field] !== undefined) value[key] = { ...part, [field]: moved(part[field]) };
  }
  return { ...source, value };
}
