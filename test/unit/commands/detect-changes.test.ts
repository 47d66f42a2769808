import { describe, expect, test } from 'vitest';
import { suiteSchema } from '../../../src/core/suite.schema.ts';
import type { Suite } from '../../../src/core/suite.ts';
import { changeLines, detectChanges, hasChanges, type Snapshot } from '../../../src/commands/run/detect-changes.ts';

const suite: Suite = suiteSchema.parse({
  name: 's',
  kind: 'smoke',
  datasets: ['c.yaml'],
  tools: [],
  fixtures: {},
  gates: [],
  gates_off: [],
  agent: { type: 'openai', model: 'm-1' },
  judge: null,
});
const SAME = { fixturesAside: 'S', promptsNow: 'S' };

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  const cases = ['a', 'b', 'c'].map((id) => ({ case_id: id, content_hash: `${id}1` }));
  return { suite, agentHash: 'A', suiteHash: 'S', cases, ...more };
}

describe('R18: what changed since an evaluation was started', () => {
  test('nothing', () => {
    const changes = detectChanges(snapshot(), snapshot(), SAME);
    expect(hasChanges(changes)).toBe(false);
    expect(changeLines(changes)).toEqual([]);
  });

  test('cases added, removed and edited are named; the others stay', () => {
    const now = snapshot({
      cases: [
        { case_id: 'd', content_hash: 'd1' },
        { case_id: 'a', content_hash: 'a2' },
        { case_id: 'b', content_hash: 'b1' },
      ],
    });
    const changes = detectChanges(snapshot(), now, SAME);
    expect(changes).toMatchObject({ added: ['d'], removed: ['c'], edited: ['a'], everything: false });
    expect(changeLines(changes)).toEqual(['1 case added: d', '1 case removed: c', '1 case edited: a']);
  });

  test('many cases are cut after eight', () => {
    const cases = Array.from({ length: 11 }, (_, i) => ({ case_id: `n${i}`, content_hash: 'x' }));
    const [line] = changeLines(detectChanges(snapshot({ cases: [] }), snapshot({ cases }), SAME));
    expect(line).toMatch(/^11 cases added: n0, .*n7 and 3 more$/);
  });

  test('another agent touches every trial', () => {
    const agent = { type: 'openai' as const, model: 'm-2', system_prompt: 'x'.repeat(50) };
    const changes = detectChanges(snapshot(), snapshot({ suite: { ...suite, agent }, agentHash: 'B' }), SAME);
    expect(changes.everything).toBe(true);
    expect(changeLines(changes)).toEqual(['agent: model ("m-1" → "m-2"), system_prompt changed']);
  });

  test('a module whose file changed has an equal configuration', () => {
    const own = { ...suite, agent: { type: 'module' as const, path: 'agent.ts' } };
    const changes = detectChanges(snapshot({ suite: own }), snapshot({ suite: own, agentHash: 'B' }), SAME);
    expect(changes.agent).toBe('its module');
  });

  test('fixtures alone touch only the cases that use them; anything else of the suite all', () => {
    const fixtures = { f: [{ tool: 't', replies: [{ result: 1 }] }] };
    const cases = [...snapshot().cases.slice(0, 2), { case_id: 'c', content_hash: 'c2' }];
    const now = snapshot({ suite: { ...suite, fixtures }, suiteHash: 'T', cases });
    const changes = detectChanges(snapshot(), now, SAME);
    expect(changes).toMatchObject({ suite: ['fixtures'], everything: false, edited: ['c'] });
    const limits = { ...suite.limits, max_iterations: 3 };
    const tighter = snapshot({ suite: { ...suite, limits }, suiteHash: 'T' });
    expect(detectChanges(snapshot(), tighter, { fixturesAside: 'T', promptsNow: 'S' })).toMatchObject({
      suite: ['limits'],
      everything: true,
    });
  });

  test('an edited judge prompt is seen though no part of the suite differs', () => {
    const changes = detectChanges(snapshot(), snapshot({ suiteHash: 'T' }), { fixturesAside: 'T', promptsNow: 'T' });
    expect(changes).toMatchObject({ suite: ['judge prompts'], everything: true });
    expect(hasChanges(changes)).toBe(true);
  });

  test('gates are no change of results, but are said', () => {
    const gates = [{ name: 'g', metric: 'tool_score', min: 0.9 }];
    const changes = detectChanges(snapshot(), snapshot({ suite: { ...suite, gates } }), SAME);
    expect(hasChanges(changes)).toBe(false);
    expect(changes.kept).toEqual(['gates']);
  });
});
