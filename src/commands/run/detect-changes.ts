import { canonicalJson } from '../../core/json.ts';
import type { AgentConfig, Suite } from '../../core/suite.ts';

/** What changed between an evaluation's stored snapshot and the suite as it is now. */
export interface Changes {
  /** Parts of the suite that change a result: tools, limits, judge, …; `judge prompts` for their texts. */
  suite: string[];
  /** True when every trial is touched: the agent, or a part of the suite beyond the fixtures, changed. */
  everything: boolean;
  /** What changed of the agent, in words; null when nothing did. */
  agent: string | null;
  added: string[];
  removed: string[];
  edited: string[];
  /** Options that differ in the file now but are kept as the evaluation was started with. */
  kept: string[];
}

/** An evaluation as stored, or as its files are now. */
export interface Snapshot {
  suite: Suite;
  agentHash: string;
  suiteHash: string;
  cases: readonly { case_id: string; content_hash: string }[];
}

/** Parts of a suite that its hash covers, fixtures apart: those are told by the cases that use them. */
const PARTS = ['tools', 'decides', 'tool_score', 'safety', 'limits', 'judge'] as const;
/** Parts that change no trial's result. */
const OPTIONS = ['gates', 'gates_off', 'regression', 'prices', 'retry'] as const;

/**
 * Compares a snapshot with the suite as it is now.
 * @param hashes.fixturesAside hash of the suite as it is now, but with the stored fixtures
 * @param hashes.promptsNow hash of the stored suite with the prompt files as they are now
 */
export function detectChanges(
  stored: Snapshot,
  current: Snapshot,
  hashes: { fixturesAside: string; promptsNow: string },
): Changes {
  const before = new Map(stored.cases.map((one) => [one.case_id, one.content_hash]));
  const now = new Map(current.cases.map((one) => [one.case_id, one.content_hash]));
  const suiteChanged = stored.suiteHash !== current.suiteHash;
  const beyondFixtures = suiteChanged && hashes.fixturesAside !== stored.suiteHash;
  const parts: string[] = PARTS.filter((part) => differ(stored.suite[part], current.suite[part]));
  if (hashes.promptsNow !== stored.suiteHash) parts.push('judge prompts');
  if (suiteChanged && differ(stored.suite.fixtures, current.suite.fixtures)) parts.push('fixtures');
  const agentChanged = stored.agentHash !== current.agentHash;
  return {
    suite: suiteChanged ? parts : [],
    everything: agentChanged || beyondFixtures,
    agent: agentChanged ? agentChange(stored.suite.agent, current.suite.agent) : null,
    added: [...now.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !now.has(id)),
    edited: [...now].filter(([id, hash]) => before.has(id) && before.get(id) !== hash).map(([id]) => id),
    kept: OPTIONS.filter((part) => differ(stored.suite[part], current.suite[part])),
  };
}

/** True when something changed that results depend on. */
export function hasChanges(changes: Changes): boolean {
  const { suite, agent, added, removed, edited } = changes;
  return suite.length > 0 || agent !== null || added.length + removed.length + edited.length > 0 || changes.everything;
}

function agentChange(before: AgentConfig, now: AgentConfig): string {
  if (before.type !== now.type) return `${before.type} → ${now.type}`;
  const a: Record<string, unknown> = { ...before };
  const b: Record<string, unknown> = { ...now };
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => differ(a[key], b[key])).sort();
  if (keys.length === 0) return 'its module';
  return keys.map((key) => `${key}${shortChange(a[key], b[key])}`).join(', ');
}

/** ` (a → b)` where both are short. */
function shortChange(a: unknown, b: unknown): string {
  const text = (value: unknown): string => (value === undefined ? 'none' : (JSON.stringify(value) ?? ''));
  const short = [a, b].every((value) => typeof value !== 'object' && text(value).length <= 40);
  return short ? ` (${text(a)} → ${text(b)})` : '';
}

function differ(a: unknown, b: unknown): boolean {
  return canonicalJson(a) !== canonicalJson(b);
}

const NAMED = 8;

/** One line a change, for people. Cases are named, up to eight of each kind. */
export function changeLines(changes: Changes): string[] {
  const cases = (ids: readonly string[], what: string): string[] => {
    if (ids.length === 0) return [];
    const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
    return [`${ids.length} ${ids.length === 1 ? 'case' : 'cases'} ${what}: ${ids.slice(0, NAMED).join(', ')}${more}`];
  };
  const { suite } = changes;
  return [
    ...(suite.length > 0 ? [`suite: ${suite.join(', ')} changed`] : []),
    ...(changes.agent === null ? [] : [`agent: ${changes.agent} changed`]),
    ...cases(changes.added, 'added'),
    ...cases(changes.removed, 'removed'),
    ...cases(changes.edited, 'edited'),
  ];
}
