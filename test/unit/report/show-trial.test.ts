import { describe, expect, test } from 'vitest';
import type { Score } from '../../../src/core/score.ts';
import { NO_USAGE, type ToolCall, type Trajectory } from '../../../src/core/trajectory.ts';
import { displayWidth } from '../../../src/report/align.ts';
import { listTable } from '../../../src/report/list-table.ts';
import { jsonLines, textLines } from '../../../src/report/show-text.ts';
import { renderTrial, type ShownTrial } from '../../../src/report/show-trial.ts';

const PLAIN = { width: 80, color: false, full: false };

function call(index: number, turn: number, more: Partial<ToolCall> = {}): ToolCall {
  const base = { id: null, tool: `t${index}`, args: { n: index }, raw_arguments: null, malformed: null, result: 'ok' };
  return { index, turn, ...base, error: null, approved: null, started_at_ms: 1_100, ended_at_ms: 1_150, ...more };
}

function trajectory(more: Partial<Trajectory> = {}): Trajectory {
  return {
    version: 1,
    final_status: 'COMPLETED',
    final_status_reason: null,
    answer: 'done',
    messages: [],
    tool_calls: [],
    available_tools: [],
    iterations: 2,
    model_calls: 2,
    usage: NO_USAGE,
    sub_agents: [],
    end_state: null,
    unmatched_calls: [],
    plan: null,
    retrieved_doc_ids: null,
    model: 'm',
    time_to_first_token_ms: null,
    approval_wait_ms: 0,
    started_at_ms: 1_000,
    ended_at_ms: 2_000,
    ...more,
  };
}

function shown(more: Partial<ShownTrial> = {}): ShownTrial {
  return {
    evaluation_id: 'e-1',
    case_id: 'c-1',
    trial_index: 1,
    status: 'failed',
    error: null,
    model_failures: 0,
    rate_limits: 0,
    deaths: 0,
    cost_usd: null,
    judge_cost_usd: null,
    judge_tokens: null,
    evalCase: null,
    trajectory: null,
    scores: [],
    verdicts: [],
    ...more,
  };
}

function score(scorer: string, more: Partial<Score> = {}): Score {
  const base = { dimension: null, value: 1, passed: true, reason: '', details: null, deciding: true, violation: false };
  return { scorer, ...base, ...more };
}

/** Positions of texts in the order they should appear. */
function inOrder(text: string, ...parts: string[]): void {
  let at = -1;
  for (const part of parts) {
    const next = text.indexOf(part, at + 1);
    expect(next, `${part} after position ${at} in:\n${text}`).toBeGreaterThan(at);
    at = next;
  }
}

describe('what stands beside the steps', () => {
  const ran = { name: 'helper', input: 'look it up', output: 'found', tool_calls: [], usage: NO_USAGE } as const;

  test('sub-agents: who dispatched them, what cut or refused them', () => {
    const text = renderTrial(
      shown({
        trajectory: trajectory({
          sub_agents: [
            {
              ...ran,
              id: 'helper#1',
              tool_calls: [],
              usage: { ...NO_USAGE, total: 1_200 },
              final_status: 'PARTIAL_SUCCESS',
              timed_out: true,
              timeout_ms: 20_000,
              dispatch_call_index: 0,
              started_at_ms: 1_500,
              ended_at_ms: 21_500,
            },
            {
              ...ran,
              tool_calls: [],
              final_status: 'FAILED',
              blocked: 'max_dispatches (1) is reached',
              output: null,
              parent: 'helper#1',
              dispatch_call_index: 2,
            },
          ],
        }),
      }),
      PLAIN,
    );
    inOrder(text, 'sub-agent helper  PARTIAL_SUCCESS', 'by call #0 · after 500 ms · took 20.0 s · 1,200 tokens');
    inOrder(text, 'its timeout of 20.0 s ended it', 'found', 'sub-agent helper  blocked', 'by call #2 of helper#1');
    inOrder(text, 'blocked', 'max_dispatches (1) is reached', 'look it up');
    expect(text.split('output')).toHaveLength(2);
  });

  test('standard error of a command agent: its end, where the cause stands', () => {
    const stderr = [...Array.from({ length: 30 }, (_, n) => `line ${n}`), 'ImportError: no model'].join('\n');
    const text = renderTrial(shown({ trajectory: trajectory({ stderr }) }), PLAIN);
    inOrder(text, 'stderr', '19 lines before these', 'line 19', 'ImportError: no model');
    expect(text).not.toContain('line 18\n');
    expect(renderTrial(shown({ trajectory: trajectory({ stderr }) }), { ...PLAIN, full: true })).toContain('line 0\n');
    const leak = renderTrial(shown({ trajectory: trajectory({ stderr: 'sk-proj-abcdefghijklmnopqrstuvwx' }) }), PLAIN);
    expect(leak).not.toContain('abcdefghijklmnopqrstuvwx');
  });

  test('artifacts of an A2A agent, files by name and size', () => {
    const file = { kind: 'file', filename: 'a.pdf', media_type: 'application/pdf', sha256: 'x', base64: null } as const;
    const artifacts: Trajectory['artifacts'] = [
      { id: 'a1', name: 'Receipt', description: null, parts: [{ kind: 'data', data: { n: 1 }, media_type: 'x' }] },
      { id: 'a2', name: null, description: null, parts: [{ ...file, url: null, bytes: 2_048 }] },
    ];
    const text = renderTrial(shown({ trajectory: trajectory({ artifacts }) }), PLAIN);
    inOrder(text, 'artifact', 'Receipt', '{"n":1}', 'a2', 'file a.pdf (application/pdf), 2,048 bytes');
  });
});

describe('a trial step by step', () => {
  test('calls stand under the message that made them, results with their calls', () => {
    const text = renderTrial(
      shown({
        trajectory: trajectory({
          messages: [
            { role: 'user', content: 'question' },
            { role: 'assistant', content: 'looking', tool_calls: [{}, {}] },
            { role: 'tool', content: 'raw result' },
            { role: 'assistant', content: 'done' },
          ],
          tool_calls: [call(0, 0), call(1, 0, { error: { kind: 'timeout', message: 'after 5 s' } })],
        }),
      }),
      PLAIN,
    );
    inOrder(
      text,
      'question',
      'looking',
      '#0 t0',
      '{"n":0}',
      '"ok"',
      '#1 t1',
      'timeout: after 5 s',
      'done',
      'COMPLETED',
    );
    expect(text).not.toContain('raw result');
    expect(text).toContain('turn 1 · after 100 ms · took 50 ms');
  });

  test('assistant messages the case brought along are no turns', () => {
    const text = renderTrial(
      shown({
        trajectory: trajectory({
          iterations: 1,
          messages: [
            { role: 'assistant', content: 'from memory' },
            { role: 'user', content: 'now' },
            { role: 'assistant', content: 'acting', tool_calls: [{}] },
          ],
          tool_calls: [call(0, 0)],
        }),
      }),
      PLAIN,
    );
    inOrder(text, 'from memory', 'now', 'acting', '#0 t0');
  });

  test('the calls of a module come before its answer', () => {
    const text = renderTrial(
      shown({
        trajectory: trajectory({
          iterations: 3,
          messages: [
            { role: 'user', content: 'question' },
            { role: 'assistant', content: 'done' },
          ],
          tool_calls: [call(0, 0), call(1, 1)],
        }),
      }),
      PLAIN,
    );
    inOrder(text, 'question', '#0 t0', '#1 t1', 'done', 'COMPLETED');
    expect(text.match(/#0 t0/g)).toHaveLength(1);
  });

  test('what a failing tool gave back is shown as it was', () => {
    const error = { kind: 'malformed', message: 't0 answered with broken JSON' };
    const text = renderTrial(
      shown({ trajectory: trajectory({ tool_calls: [call(0, 0, { error, result: '{"status": "ok", "data": [' })] }) }),
      PLAIN,
    );
    inOrder(text, 'error', 'broken JSON', 'result', '{"status": "ok", "data": [');
  });

  test('JSON is broken between its parts; only a string wider than a line is broken itself', () => {
    const args = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`key number ${i}`, `a value of ${i} words`]));
    const lines = jsonLines({ ...args, list: [1, 2.5, null, { deep: [] }], empty: '' }, 40, true);
    expect(lines.join('')).toBe(JSON.stringify({ ...args, list: [1, 2.5, null, { deep: [] }], empty: '' }));
    for (const line of lines) expect((line.match(/"/g) ?? []).length % 2, line).toBe(0);
    expect(jsonLines({ total: 40, status: 'shipped', order: 'A-1' }, 24, true)).toEqual([
      '{"total":40,',
      '"status":"shipped",',
      '"order":"A-1"}',
    ]);
    const long = jsonLines({ text: 'word '.repeat(30), after: 1 }, 40, true);
    for (const line of long) expect(displayWidth(line)).toBeLessThanOrEqual(40);
    expect(long.join('')).toContain('"after":1}');
    expect(jsonLines({ open: `-----BEGIN PRIVATE KEY-----${'A'.repeat(9000)}` }, 40, true)).toEqual([
      '{"open":"----***',
    ]);
  });

  test('--full leaves nothing out of a line either', () => {
    expect(jsonLines('x'.repeat(5000), 80, true).join('')).toHaveLength(5002);
    expect(textLines('x'.repeat(5000), 80, true).join('')).toHaveLength(5000);
  });

  test('calls without a message are not lost; malformed ones show what was sent', () => {
    const bad = call(0, 7, { tool: '(malformed)', args: null, malformed: 'no JSON', raw_arguments: "{'a':1}" });
    const text = renderTrial(shown({ trajectory: trajectory({ tool_calls: [bad] }) }), PLAIN);
    inOrder(text, '#0 (malformed)', 'no JSON; as sent:', "{'a':1}");
  });

  test('what decided comes first, with its reason; a violation before all', () => {
    const text = renderTrial(
      shown({
        scores: [
          score('a_info', { deciding: false, passed: false, value: 0.2, reason: 'slow' }),
          score('b_pass', { reason: 'not needed' }),
          score('c_fail', { passed: false, value: 0, reason: 'lacks 42' }),
          score('d_null', { passed: null, value: null, reason: 'judge_refused' }),
          score('e_veto', { passed: false, value: 0, violation: true, reason: 'called drop_table' }),
        ],
      }),
      PLAIN,
    );
    inOrder(text, 'e_veto', 'safety violation', 'called drop_table', 'c_fail', 'lacks 42', 'd_null', 'not scored');
    inOrder(text, 'd_null', 'judge_refused', 'b_pass', 'a_info', 'slow');
    expect(text).not.toContain('not needed');
  });

  test('the judge: verdict and reason; why there is none, with the raw reply', () => {
    const base = { vote: 0, model: 'j', parsed: null, unscored_cause: null, reason: null, raw_reply: null };
    const text = renderTrial(
      shown({
        verdicts: [
          {
            ...base,
            dimension: 'task_completion',
            parsed: { verdict: 'partial' },
            reason: 'half of it',
            raw_reply: 'RAW1',
          },
          { ...base, dimension: 'answer_quality', unscored_cause: 'judge_unparsable', raw_reply: 'I think so' },
        ],
      }),
      PLAIN,
    );
    inOrder(
      text,
      'task_completion',
      '{"verdict":"partial"}',
      'half of it',
      'answer_quality',
      'judge_unparsable',
      'I think so',
    );
    expect(text).not.toContain('RAW1');
  });

  test('an errored trial says why and what it survived', () => {
    const error = { kind: 'server_error', message: 'status 500 (5 failures)' };
    const text = renderTrial(shown({ status: 'errored', error, model_failures: 5, deaths: 1 }), PLAIN);
    expect(text).toContain('server_error: status 500 (5 failures)');
    expect(text).toContain('5 failed model calls, 1 death of its process');
  });

  test('secrets are masked, control characters gone, long texts cut unless full', () => {
    const secret = `sk-${'a'.repeat(24)}`;
    const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n');
    const messages = [
      { role: 'user' as const, content: `key ${secret}\u001b[31m` },
      { role: 'assistant' as const, content: long },
    ];
    const trial = shown({ trajectory: trajectory({ messages }) });
    const text = renderTrial(trial, PLAIN);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('\u001b');
    expect(text).toContain('28 more lines (--full shows them)');
    expect(renderTrial(trial, { ...PLAIN, full: true })).toContain('line 39');
  });

  test('no line is wider than asked for, full-width text included', () => {
    const messages = [{ role: 'user' as const, content: '数据查询'.repeat(80) }];
    const text = renderTrial(shown({ trajectory: trajectory({ messages }) }), PLAIN);
    for (const line of text.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  });
});

test('the list is aligned with full-width suite names and keeps ids whole', () => {
  const row = { status: 'completed', created_at: new Date(2026, 2, 18, 2, 0), verdict: null, completion_rate: 1 };
  const lines = listTable([
    { ...row, evaluation_id: 'x'.repeat(90), suite: '能源问答', ended: 3, planned: 3 },
    { ...row, evaluation_id: 'b', suite: 'ops', ended: 1, planned: 3 },
  ]);
  expect(lines[1]).toContain('x'.repeat(90));
  const [head = '', a = '', b = ''] = lines;
  const column = (line: string, text: string): number => displayWidth(line.slice(0, line.indexOf(text)));
  expect(column(a, 'completed')).toBe(column(head, 'status'));
  expect(column(b, 'completed')).toBe(column(head, 'status'));
  expect(a).toContain('2026-03-18 02:00');
  expect(b).toContain('1/3');
});

test('the list fits a terminal of 80 columns with ids as Assay makes them', () => {
  const row = {
    status: 'completed',
    created_at: new Date(2026, 2, 18, 2, 0),
    completion_rate: 0.917,
    ended: 48,
    planned: 48,
  };
  const verdict = 'Failed: 1 of 9 gates: completion_rate is 79.2 %, wanted at least 85 %';
  const lines = listTable(
    ['energy-20261129-233457-1821df', 'ops-20261129-233408-37d3ed'].map((evaluation_id) => ({
      ...row,
      evaluation_id,
      suite: evaluation_id.split('-')[0] ?? '',
      verdict,
    })),
    80,
  );
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^id +suite +status +completion +verdict$/);
  expect(lines[1]).toContain('Failed: 1 of 9');
});
