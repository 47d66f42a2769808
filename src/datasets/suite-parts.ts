import { dirname, join } from 'node:path';
import type { MockFixture, ToolDefinition } from '../core/case.ts';
import { mockFixtureSchema, toolDefinitionSchema } from '../core/case.schema.ts';
import type { Json } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import { resolveInside } from './safe-path.ts';
import { fixtureFromSugar } from './shapes/fixture-sugar.ts';
import { toolFromSugar } from './shapes/canonical-sugar.ts';
import { describe, errorAt, formatPath, formatPlace, partOf, warningAt } from './readers/source.ts';
import type { Path, Place, Report, SourceValue } from './readers/source.ts';
import { readSource } from './suite-source.ts';
import { zodProblems } from './checks/zod-problems.ts';

/** Where a suite's parts are looked for. */
export interface SuiteFolder {
  /** Absolute. */
  root: string;
  /** The suite file as the user named it, for problems. */
  file: string;
  allowOutside: boolean;
}

/** Reads a file that the suite names at `place`; reports and gives null when it cannot be used. */
async function readNamed(
  path: string,
  place: Place,
  key: string,
  folder: SuiteFolder,
  report: Report,
): Promise<SourceValue | null> {
  const safe = await resolveInside(folder.root, path, folder.allowOutside);
  if (!safe.ok) {
    report(errorAt(place, `${key}: ${safe.error}`));
    return null;
  }
  return readSource(safe.absolute, join(dirname(folder.file), path), report);
}

/** `tools`: a list, or the path of a YAML or JSON file that holds one (or an object with a `tools` list). */
export async function readTools(source: SourceValue, folder: SuiteFolder, report: Report): Promise<ToolDefinition[]> {
  let list: SourceValue | null = source;
  if (typeof source.value === 'string') list = await readNamed(source.value, source.place([]), 'tools', folder, report);
  if (list === null) return [];
  if (isJsonObject(list.value) && Array.isArray(list.value['tools'])) list = partOf(list, ['tools']);
  const from = list;
  if (!Array.isArray(from.value)) {
    report(errorAt(from.place([]), `tools: expected a list of tools or a path, got ${describe(from.value)}`));
    return [];
  }
  const tools: ToolDefinition[] = [];
  const places = new Map<string, Place>();
  from.value.forEach((item, i) => {
    const value = toolFromSugar(item);
    const parsed = toolDefinitionSchema.safeParse(value);
    if (!parsed.success) {
      const name = (path: Path): string => formatPath(['tools', i, ...path]);
      zodProblems(parsed.error.issues, {
        value,
        place: (path, target) => from.place([i, ...path], target),
        name,
      }).forEach(report);
      return;
    }
    const place = from.place([i]);
    const before = places.get(parsed.data.name);
    if (before !== undefined) {
      report(errorAt(place, `tools: "${parsed.data.name}" is defined twice; first at ${formatPlace(before)}`));
    } else if (!/^[a-zA-Z0-9_-]{1,64}$/.test(parsed.data.name)) {
      report(
        warningAt(
          place,
          `tools: "${parsed.data.name}": OpenAI-compatible endpoints accept letters, digits, _ and - (at most 64)`,
        ),
      );
    }
    places.set(parsed.data.name, place);
    tools.push(parsed.data);
  });
  return tools;
}

export interface NamedFixtures {
  fixtures: Record<string, MockFixture[]>;
  places: Map<string, Place>;
}

/** `fixtures`: a map name → list of fixtures, or one or several paths of files that hold such maps. */
export async function readFixtures(source: SourceValue, folder: SuiteFolder, report: Report): Promise<NamedFixtures> {
  const found: NamedFixtures = { fixtures: {}, places: new Map() };
  const { value } = source;
  const paths = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(paths)) addFixtures(source, found, report);
  else {
    for (const [i, path] of paths.entries()) {
      const place = source.place(typeof value === 'string' ? [] : [i]);
      if (typeof path !== 'string') {
        report(errorAt(place, `fixtures: expected a path, got ${describe(path)}`));
        continue;
      }
      const file = await readNamed(path, place, 'fixtures', folder, report);
      if (file === null) continue;
      const nested =
        isJsonObject(file.value) && Object.keys(file.value).length === 1 && isJsonObject(file.value['fixtures']);
      addFixtures(nested ? partOf(file, ['fixtures']) : file, found, report);
    }
  }
  return found;
}

function addFixtures(source: SourceValue, found: NamedFixtures, report: Report): void {
  if (!isJsonObject(source.value)) {
    const expected = 'fixtures: expected a map of names to lists of fixtures';
    report(errorAt(source.place([]), `${expected}, got ${describe(source.value)}`));
    return;
  }
  for (const [name, group] of Object.entries(source.value)) {
    const place = source.place([name], 'key');
    const before = found.places.get(name);
    if (before !== undefined) {
      report(errorAt(place, `fixtures: "${name}" is defined twice; first at ${formatPlace(before)}`));
      continue;
    }
    found.places.set(name, place);
    const list: Json[] = Array.isArray(group) ? group : [group];
    found.fixtures[name] = list.flatMap((item, i) => {
      const value = fixtureFromSugar(item);
      const parsed = mockFixtureSchema.safeParse(value);
      if (parsed.success) return [parsed.data];
      const at = Array.isArray(group) ? [name, i] : [name];
      const context = {
        value,
        place: (path: Path, target?: 'key' | 'value') => source.place([...at, ...path], target),
        name: (path: Path) => formatPath(['fixtures', name, i, ...path]),
      };
      zodProblems(parsed.error.issues, context).forEach(report);
      return [];
    });
  }
}
