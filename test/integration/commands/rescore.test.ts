import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { openWorkplace, untilEnded, untilStatus, type Workplace } from './assay.ts';

let workplace: Workplace;

/** A suite with a judge that likes what contains `apple`, and of two answers the longer one. */
function writeSuite(more: { criteria?: string; input?: string; prompt?: string; judge?: string } = {}): void {
  workplace.write(
    'suite.yaml',
    `name: fruit
datasets: [cases.yaml]
offline_model: model.yaml
agent: { type: openai, model: scripted-1, system_prompt: ${JSON.stringify(more.prompt ?? 'plain')} }
judge: ${more.judge ?? '{ model: scripted-judge, dimensions: [task_completion] }'}
gates_off: [case_pass_rate]
prices: { scripted-1: { input: 1, output: 1 }, scripted-judge: { input: 1, output: 1 } }
`,
  );
  const cases = ['apple', 'pear'].map((id) => ({
    id,
    input: id === 'pear' ? (more.input ?? 'Say pear') : 'Say apple',
    expected: { criteria: more.criteria ?? 'names an apple' },
  }));
  workplace.write('cases.yaml', JSON.stringify(cases));
  workplace.write(
    'model.yaml',
    `model: scripted-1
rules:
  - { when: { model: scripted-judge, user_matches: 'any fruit' }, allow_repeat: true, reply: { json: { result: success, reason: a fruit } } }
  - { when: { model: scripted-judge, user_matches: 'first answer' }, allow_repeat: true, reply: { json: { winner: first, reason: it stands first } } }
  - { when: { model: scripted-judge, user_matches: 'apple said' }, allow_repeat: true, reply: { json: { result: success, reason: an apple } } }
  - { when: { model: scripted-judge }, allow_repeat: true, reply: { json: { result: failure, reason: no apple } } }
  - { when: { user_matches: '^Say (.+)$' }, allow_repeat: true, reply: { content: '{{match.1}} said' } }
`,
  );
}

async function agentCalls(id: string): Promise<number> {
  const rows = await sql<{ calls: number }>`
    select count(*) as calls from model_call where evaluation_id = ${id} and role = 'agent'`.execute(workplace.db);
  return rows.rows[0]?.calls ?? 0;
}

interface Report {
  evaluation: { evaluation_id: string; source?: string };
  verdict: { exit_code: number };
  result: {
    counts: Record<string, number>;
    tokens: { agent: number; judge: number };
    judge_variance?: { dimension: string; verdicts: number }[];
  };
  comparison: { baseline_evaluation_id: string; newly_passing: string[]; stale: string[] } | null;
}

async function rescore(...args: string[]): Promise<{ code: number; report: Report; err: string }> {
  const ran = await workplace.run('rescore', ...args, '--json');
  return {
    code: ran.code,
    report: ran.out === '' ? (null as unknown as Report) : (JSON.parse(ran.out) as Report),
    err: ran.err,
  };
}

beforeAll(async () => {
  workplace = await openWorkplace({ cases: ['unused'] });
  writeSuite();
  const ran = await workplace.run('run', 'suite.yaml', '--id', 'source', '--trials', '2');
  expect(ran.code, ran.err).toBe(1);
});
afterAll(() => workplace.close());

describe('rescore', () => {
  test('the same suite: the same scores, no agent call, a new evaluation that names its source', async () => {
    const { code, report, err } = await rescore('source');
    const id = report.evaluation.evaluation_id;
    expect(err).toContain('the agent is not run');
    expect(code).toBe(1);
    expect(report.evaluation.source).toBe('source');
    expect(report.result.counts).toMatchObject({ passed: 2, failed: 2 });
    expect(await agentCalls('source')).toBe(4);
    expect(await agentCalls(id)).toBe(0);
    const row = await findEvaluation(workplace.db, id);
    expect(row).toMatchObject({ source_evaluation_id: 'source', status: 'completed', planned_trials: 4 });
    expect(row?.agent_hash).toBe((await findEvaluation(workplace.db, 'source'))?.agent_hash);
    const shown = await workplace.run('report', id);
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain('the agent was not run: its part of these is that of source');
    expect(shown.out).toContain(`assay compare source ${id}`);
  });

  test('new criteria: what failed passes; the agent’s tokens are those of the source', async () => {
    writeSuite({ criteria: 'names any fruit' });
    const { code, report } = await rescore('source', '--label', 'rubric=2');
    expect(code).toBe(0);
    expect(report.result.counts).toMatchObject({ passed: 4, failed: 0 });
    const before = JSON.parse((await workplace.run('report', 'source', '--json')).out) as Report;
    expect(before.result.counts).toMatchObject({ passed: 2, failed: 2 });
    expect(report.result.tokens.agent).toBe(before.result.tokens.agent);
    writeSuite();
  });

  test('with a baseline: compared and gated as a run', async () => {
    await workplace.run('baseline', 'set', 'source', '--force');
    const { report } = await rescore('source');
    expect(report.comparison).toMatchObject({ baseline_evaluation_id: 'source', stale: [], newly_passing: [] });
  });

  test('--judge-times: verdicts by judging, variances in text and JSON', async () => {
    writeSuite();
    const { report } = await rescore('source', '--judge-times', '3');
    expect(report.result.judge_variance).toMatchObject([{ dimension: 'task_completion', verdicts: 12 }]);
    const text = await workplace.run('report', report.evaluation.evaluation_id);
    expect(text.out).toContain('Judge and agent apart');
    expect(text.out).toContain('every trajectory was judged alike each time');
  });

  test('a case that asks something else now is refused, or left out and named', async () => {
    writeSuite({ input: 'Say plum' });
    const refused = await rescore('source');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('1 case asked something else in source: pear');
    const { report, err } = await rescore('source', '--skip-changed');
    expect(err).toContain('1 case left out, they ask something else now: pear');
    expect(report.result.counts).toMatchObject({ passed: 2, failed: 0 });
    const stored = await rescore('source', '--as-snapshot');
    expect(stored.report.result.counts).toMatchObject({ passed: 2, failed: 2 });
    writeSuite();
  });

  test('a trial without a trajectory is errored in the new evaluation too, never passed over', async () => {
    const ran = await workplace.run('run', 'suite.yaml', '--id', 'gappy', '--new');
    expect(ran.code).toBe(1);
    await sql`delete from trajectory where evaluation_id = 'gappy' and case_id = 'apple'`.execute(workplace.db);
    const { code, report } = await rescore('gappy');
    expect(report.result.counts).toMatchObject({ failed: 1, errored: 1 });
    expect(code).not.toBe(0);
    const trial = await workplace.run('show', report.evaluation.evaluation_id, 'apple', '1');
    expect(trial.out).toContain('no trajectory in gappy to score');
  });

  test('run does not join an unfinished rescoring; resume goes on with it; --rerun-changed is refused', async () => {
    const detached = await workplace.run('rescore', 'source', '--detach', '--id', 'later', '--no-worker');
    expect(detached.code, detached.err).toBe(0);
    const run = await workplace.run('run', 'suite.yaml', '--trials', '2');
    expect(run.err).not.toContain('joining');
    const refused = await workplace.run('resume', 'later', '--rerun-changed');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('it runs no agent');
    writeSuite({ prompt: 'another agent now' });
    const resumed = await workplace.run('resume', 'later');
    expect(resumed.code, resumed.err).toBe(1);
    expect(await agentCalls('later')).toBe(0);
    writeSuite();
  });

  test('wrong usage is answered: no such evaluation, no judge to ask more often, an id that is taken', async () => {
    expect((await rescore('nowhere')).code).toBe(2);
    expect((await rescore('source', '--id', 'source')).err).toContain('evaluation source exists');
    writeSuite({ judge: 'null' });
    expect((await rescore('source', '--judge-times', '3')).err).toContain('the suite has no judge');
    writeSuite();
  });
});

describe('rescore under attack', () => {
  test('two at once with one id: one scores, the other is told; neither takes the other’s scores for its own', async () => {
    writeSuite({ criteria: 'names any fruit' });
    workplace.write('kind.yaml', readFileSync(path.join(workplace.folder, 'suite.yaml'), 'utf8'));
    workplace.write('kind-cases.yaml', readFileSync(path.join(workplace.folder, 'cases.yaml'), 'utf8'));
    writeSuite();
    const kind = readFileSync(path.join(workplace.folder, 'kind.yaml'), 'utf8').replace(
      'cases.yaml',
      'kind-cases.yaml',
    );
    workplace.write('kind.yaml', kind);
    const both = await Promise.all([
      rescore('source', '--id', 'twice'),
      rescore('source', '--id', 'twice', '--suite', 'kind.yaml'),
    ]);
    const [strict, lax] = both;
    const [told, scored] = strict?.code === 2 ? [strict, lax] : [lax, strict];
    expect(told?.code).toBe(2);
    expect(told?.err).toContain('evaluation twice exists');
    // Of the strict suite half of the trials fail, of the kind one none.
    expect(scored?.report.result.counts).toMatchObject(
      scored === strict ? { passed: 2, failed: 2 } : { passed: 4, failed: 0 },
    );
  });

  test('two at once without an id: two evaluations, each whole, the source as it was', async () => {
    const before = JSON.parse((await workplace.run('report', 'source', '--json')).out) as Report;
    const both = await Promise.all([rescore('source'), rescore('source')]);
    const ids = both.map(({ report }) => report.evaluation.evaluation_id);
    expect(new Set(ids).size).toBe(2);
    for (const { report } of both) expect(report.result.counts).toEqual(before.result.counts);
    expect(JSON.parse((await workplace.run('report', 'source', '--json')).out)).toMatchObject({
      result: before.result,
    });
  });

  test('canceled in the middle: resume goes on with it; a running, a canceled and a deleted source', async () => {
    const model = readFileSync(path.join(workplace.folder, 'model.yaml'), 'utf8');
    workplace.write('model.yaml', `delay_ms: 1500\n${model}`);
    const started = await workplace.run(
      'rescore',
      'source',
      '--id',
      'broken-off',
      '--detach',
      '--concurrency',
      '1',
      '--no-worker',
    );
    expect(started.code, started.err).toBe(0);
    expect((await rescore('broken-off')).err).toContain('Evaluation broken-off is running');
    const following = workplace.run('resume', 'broken-off');
    await untilEnded(workplace.db, 'broken-off', 1);
    expect((await workplace.run('cancel', 'broken-off')).code).toBe(0);
    await following;
    await untilStatus(workplace.db, 'broken-off', 'canceled');
    workplace.write('model.yaml', model);
    const ofCanceled = await rescore('broken-off');
    expect(ofCanceled.report.result.counts['errored']).toBeGreaterThan(0);
    expect(ofCanceled.code).not.toBe(0);
    expect((await workplace.run('resume', 'broken-off')).code).toBe(1);
    const { report } = await rescore('broken-off');
    expect(report.result.counts).toMatchObject({ passed: 2, failed: 2 });
    expect(await agentCalls('broken-off')).toBe(0);
    expect((await workplace.run('delete', 'broken-off', '--yes')).code).toBe(0);
    const gone = await rescore('broken-off');
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('There is no evaluation')]);
  });
});

describe('compare', () => {
  test('deltas with intervals, cases that changed sides; what is not comparable is said', async () => {
    const rescored = await rescore('source', '--id', 'again');
    expect(rescored.code).toBe(1);
    const same = await workplace.run('compare', 'source', 'again');
    expect(same.code).toBe(0);
    expect(same.out).toContain('again against source');
    expect(same.out).toContain('2 cases of equal content compared');
    expect(same.out).toMatch(/completion +50\.0 % +50\.0 %/);
    writeSuite({ criteria: 'names any fruit' });
    await rescore('source', '--id', 'kinder');
    const changed = JSON.parse((await workplace.run('compare', 'source', 'kinder', '--json')).out) as {
      schema: string;
      comparison: { compared_cases: number; changed_cases: string[] };
      pairwise: unknown;
    };
    expect(changed).toMatchObject({ schema: 'assay.compare/1', a: 'source', b: 'kinder', pairwise: null });
    expect(changed.comparison).toMatchObject({ compared_cases: 0, changed_cases: ['apple', 'pear'] });
    writeSuite();
  });

  test('--pairwise: a judge that follows the order says tie, and its bias is shown', async () => {
    const ran = await workplace.run('compare', 'source', 'again', '--pairwise', '--json');
    expect(ran.code, ran.err).toBe(0);
    const { pairwise } = JSON.parse(ran.out) as {
      pairwise: { result: Record<string, number>; spent: { calls: number } };
    };
    expect(pairwise.result).toMatchObject({ pairs: 4, judged: 4, ties: 4, order_changed: 4, preference: 0.5, p: 1 });
    expect(pairwise.spent.calls).toBe(8);
    const text = await workplace.run('compare', 'source', 'again', '--pairwise', '--limit', '1');
    expect(text.out).toContain('Answer by answer, judged by scripted-judge in both orders');
    expect(text.out).toContain('changed with the order of the answers: 100.0 %');
    expect(text.out).toContain('2 ties');
  });

  test('with the baseline of the suite, by label; one that is not pinned is said with those that are', async () => {
    const nothing = await workplace.run('compare', 'baseline:pinned', 'again');
    expect([nothing.code, nothing.err]).toEqual([2, expect.stringMatching(/no baseline "pinned"[^]*It has: main/)]);
    await workplace.run('baseline', 'set', 'source', '--label', 'pinned', '--force');
    const against = await workplace.run('compare', 'baseline:pinned', 'again');
    expect(against.err).toBe('');
    expect(against.out).toContain('again against source');
    expect((await workplace.run('compare', 'baseline', 'again')).code).toBe(0);
  });

  test('an evaluation with itself, and one that does not exist', async () => {
    expect((await workplace.run('compare', 'source', 'source')).code).toBe(2);
    expect((await workplace.run('compare', 'source', 'nowhere')).code).toBe(2);
  });
});
