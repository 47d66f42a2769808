import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PackedHistory, unpackHistory } from '../../fixtures/histories/packed-history.ts';
import { SCENARIOS } from '../../fixtures/histories/scenarios.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = path.join(root, 'test/fixtures/histories');
const versions = readdirSync(folder).filter((name) => /^v\d/.test(name));
const silent = new DefaultLogger('ERROR', () => undefined);

interface Saved extends PackedHistory {
  name: string;
}

function savedHistories(): Saved[] {
  return versions.flatMap((version) =>
    readdirSync(path.join(folder, version))
      .filter((name) => name.endsWith('.json'))
      .map((name) => {
        const packed = JSON.parse(readFileSync(path.join(folder, version, name), 'utf8')) as PackedHistory;
        return { name: `${version}/${name}`, ...packed };
      }),
  );
}

/** What replaying each history ended with, by name; null is success. */
async function replay(bundle: { code: string }, histories: Saved[]): Promise<Map<string, Error | null>> {
  const results = new Map<string, Error | null>();
  const list = histories.map((saved) => ({ workflowId: saved.workflowId, history: unpackHistory(saved) }));
  let index = 0;
  for await (const result of Worker.runReplayHistories({ workflowBundle: bundle }, list)) {
    results.set(histories[index]?.name ?? '', result.error ?? null);
    index += 1;
  }
  return results;
}

const bundle = (workflowsPath: string): Promise<{ code: string }> =>
  bundleWorkflowCode({ workflowsPath, logger: silent });

beforeAll(() => {
  Runtime.install({ logger: silent, telemetryOptions: { logging: { forward: {}, filter: 'OFF' } } });
});

test('every scenario has a saved history of its evaluation and of a shard', () => {
  const names = savedHistories().map((saved) => saved.name);
  expect(versions.length).toBeGreaterThan(0);
  for (const scenario of Object.keys(SCENARIOS)) {
    for (const kind of ['evaluation', 'shard'])
      expect(names.some((name) => name.endsWith(`/${scenario}.${kind}.json`))).toBe(true);
  }
  const events = (name: string): string[] => savedHistories().find((saved) => saved.name.includes(name))?.events ?? [];
  // They hold what they are named after.
  expect(events('continue-as-new.evaluation')).toContain('WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
  expect(events('cancel.evaluation')).toContain('WORKFLOW_EXECUTION_CANCEL_REQUESTED');
  expect(events('pause.evaluation')).toContain('WORKFLOW_EXECUTION_SIGNALED');
  expect(events('pause.shard')).toContain('WORKFLOW_EXECUTION_SIGNALED');
  expect(events('stop.shard')).toContain('ACTIVITY_TASK_FAILED');
  // One lane: the second trial was handed out before the first of two had ended.
  expect(
    events('look-ahead.shard')
      .filter((name) => /^ACTIVITY_TASK_(SCHEDULED|COMPLETED)/.test(name))
      .join(),
  ).toMatch(/SCHEDULED,ACTIVITY_TASK_SCHEDULED/);
});

test('histories hold ids and small numbers only: no key, no question, no answer', () => {
  for (const saved of savedHistories()) {
    const bytes = Buffer.from(saved.history, 'base64');
    expect(bytes.toString('latin1'), saved.name).not.toMatch(/sk-test|say \d|echo \d/);
    // It would find them: ids are there.
    expect(bytes.toString('latin1'), saved.name).toContain(saved.workflowId.split('/')[1] ?? '?');
    expect(bytes.length, saved.name).toBeLessThan(100_000);
  }
});

test('the current workflows replay every saved history', async () => {
  const results = await replay(await bundle(path.join(root, 'src/workflows/index.ts')), savedHistories());
  expect(results.size).toBe(savedHistories().length);
  for (const [name, error] of results) expect(error, name).toBeNull();
});

describe('a workflow that was changed without care does not', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(path.join(tmpdir(), 'assay-changed-'));
    cpSync(path.join(root, 'src'), path.join(copy, 'src'), { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
    writeFileSync(path.join(copy, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test.each([
    ['evaluation.ts', 'await aggregation.compareBaseline(input);', '', 'without-judge.evaluation'],
    [
      'evaluation.ts',
      'await aggregation.aggregate(input);',
      "await sleep('1 second');\n  await aggregation.aggregate(input);",
      'stop.evaluation',
    ],
    [
      'shard.ts',
      'const step = await agent.runAgent(trial);',
      'await sleep(1);\n      const step = await agent.runAgent(trial);',
      'with-judge.shard',
    ],
    ['shard.ts', 'lookAhead.note(step);', '', 'look-ahead.shard'],
  ])('%s: %s → %s', async (file, before, after, history) => {
    const original = readFileSync(path.join(root, 'src/workflows', file), 'utf8');
    expect(original).toContain(before);
    writeFileSync(path.join(copy, 'src/workflows', file), original.replace(before, after));
    try {
      const chosen = savedHistories().filter((saved) => saved.name.includes(history));
      const results = await replay(await bundle(path.join(copy, 'src/workflows/index.ts')), chosen);
      expect(results.size).toBeGreaterThan(0);
      for (const error of results.values()) expect(error).toBeInstanceOf(DeterminismViolationError);
    } finally {
      writeFileSync(path.join(copy, 'src/workflows', file), original);
    }
  });
});
