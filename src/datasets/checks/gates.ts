import { gateSchemaOf } from '../../core/suite.schema.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import { higherIsBetter } from '../../core/evaluation.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { DEFAULT_GATES } from '../../core/gate.ts';
import type { GateConfig } from '../../core/suite.ts';
import { describe, errorAt, partOf } from '../readers/source.ts';
import type { Path, Report, SourceValue } from '../readers/source.ts';
import { zodProblems } from './zod-problems.ts';

const GROUPS = ['category', 'tag', 'difficulty', 'dimension'] as const;
const BOUND = /^(>=|<=|>|<|==?|≥|≤)\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%?)$/i;

/**
 * The gates of a suite file, written out. A list holds GateConfig objects (name: default the metric); a map has a name for
 * each: `completion_rate: ">= 0.9"`, `"category:X": {metric: completion_rate, min: 1}`, `tool_score: off`.
 * @param ownScorers names of the suite's own scorers: metrics as well
 */
export function readGates(
  source: SourceValue,
  ownScorers: readonly string[],
  report: Report,
): { gates: GateConfig[]; off: string[] } {
  const { value } = source;
  const gates: GateConfig[] = [];
  const off: string[] = [];
  const schema = gateSchemaOf(ownScorers);
  const entries: { path: Path; name: string | null; value: Json }[] = [];
  if (Array.isArray(value)) value.forEach((gate, i) => entries.push({ path: [i], name: null, value: gate }));
  else if (isJsonObject(value)) {
    for (const [name, gate] of Object.entries(value)) entries.push({ path: [name], name, value: gate });
  } else report(errorAt(source.place([]), `gates: expected a list or a map of gates, got ${describe(value)}`));
  for (const entry of entries) {
    if (entry.name !== null && (entry.value === 'off' || entry.value === false)) {
      const problem = cannotSwitchOff(entry.name);
      if (problem === null) off.push(entry.name);
      else report(errorAt(source.place(entry.path, 'key'), `gates: ${problem}`));
      continue;
    }
    const written = writeOut(entry.name, entry.value);
    const label = entry.name === null ? `gates[${String(entry.path[0])}]` : `gates["${entry.name}"]`;
    if (typeof written === 'string') {
      report(errorAt(source.place(entry.path), `${label}: ${written}`));
      continue;
    }
    const parsed = schema.safeParse(written);
    if (parsed.success) gates.push(parsed.data);
    else {
      const part = partOf(source, entry.path);
      const name = (path: Path): string => (path.length === 0 ? label : `${label}.${path.join('.')}`);
      zodProblems(parsed.error.issues, { value: written, place: part.place, name }).forEach(report);
    }
  }
  const seen = new Set<string>();
  for (const gate of gates) {
    if (seen.has(gate.name)) report(errorAt(source.place([]), `gates: two gates are named "${gate.name}"`));
    seen.add(gate.name);
  }
  return { gates, off };
}

/** Why a default gate cannot be switched off; null when it can. */
export function cannotSwitchOff(name: string): string | null {
  if (name === 'safety_violations') return 'the gate safety_violations cannot be switched off';
  const known = [...DEFAULT_GATES.map((gate) => gate.name), 'budget', 'regression'];
  if (known.includes(name)) return null;
  return `no default gate is named "${name}"${didYouMean(name, known)}; known: ${known.join(', ')}`;
}

/** The gate as an object, or what is wrong with it. */
function writeOut(name: string | null, value: Json): JsonObject | string {
  const base = fromName(name);
  if (isJsonObject(value)) {
    const gate: JsonObject = { ...base, ...value };
    gate['metric'] ??= 'completion_rate';
    gate['name'] ??= defaultName(gate);
    return gate;
  }
  const metric = typeof base['metric'] === 'string' ? base['metric'] : 'completion_rate';
  if (typeof value === 'number')
    return { ...base, metric, ...(higherIsBetter(metric) ? { min: value } : { max: value }) };
  const match = typeof value === 'string' ? BOUND.exec(value.trim()) : null;
  if (match === null || name === null) {
    return `expected a bound such as ">= 0.9" or {min: 0.9}, got ${describe(value)}`;
  }
  const bound = Number(match[2]) / (match[3] === '%' ? 100 : 1);
  if (!Number.isFinite(bound)) return `expected a number in ${describe(value)}`;
  return { ...base, metric, ...boundOf(match[1] ?? '', bound, metric) };
}

/** `category:X` restricts the metric to a group; any other name is that of a metric. */
function fromName(name: string | null): JsonObject {
  if (name === null) return {};
  for (const group of GROUPS) {
    if (name.startsWith(`${group}:`)) return { name, [group]: name.slice(group.length + 1).trim() };
  }
  return { name, metric: name };
}

function defaultName(gate: JsonObject): string {
  const metric = typeof gate['metric'] === 'string' ? gate['metric'] : '';
  for (const group of GROUPS) {
    const wanted = gate[group];
    if (typeof wanted === 'string') return `${metric} ${group}:${wanted}`;
  }
  return metric;
}

function boundOf(operator: string, bound: number, metric: string): JsonObject {
  switch (operator) {
    case '>=':
    case '≥':
      return { min: bound };
    case '>':
      return { min: bound, exclusive: true };
    case '<=':
    case '≤':
      return { max: bound };
    case '<':
      return { max: bound, exclusive: true };
    default:
      // "= 1" of a rate and "= 0" of a count are the ends of their scales: reaching them is the bound.
      return higherIsBetter(metric) ? { min: bound } : { max: bound };
  }
}
