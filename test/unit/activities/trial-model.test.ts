import { expect, test, vi } from 'vitest';
import { createTrialModel, FencedError } from '../../../src/activities/trial-model.ts';
import { ModelError } from '../../../src/core/errors.ts';
import { hashValue } from '../../../src/core/hash.ts';
import type { CallPlace, ModelClient, ModelReply, ModelRequest } from '../../../src/core/model.ts';
import type { JournaledCall } from '../../../src/db/trial-reads.ts';
import type { JournalEntry } from '../../../src/db/trial-rows.ts';
import type { TrialWriter } from '../../../src/db/trial-writer.ts';

const ask = (text: string): ModelRequest => ({ model: 'm', messages: [{ role: 'user', content: text }] });
const replyTo = (text: string, total: number | null = 10): ModelReply => ({
  content: text,
  refusal: null,
  tool_calls: [],
  finish_reason: 'stop',
  usage: {
    input: total === null ? null : total - 4,
    cached: 0,
    output: total === null ? null : 4,
    reasoning: 0,
    total,
  },
  model: 'm-2026-01-01',
  request_id: null,
  time_to_first_token_ms: null,
});
const place = (sequence: number, more: Partial<CallPlace> = {}): CallPlace => ({
  role: 'agent',
  path: '',
  dimension: '',
  vote: 0,
  sequence,
  ...more,
});
const journaled = (at: CallPlace, request: ModelRequest, response: ModelReply, tookMs = 0): JournaledCall => ({
  ...at,
  request_hash: hashValue(request),
  response,
  latency_ms: tookMs,
});

/** The model of a trial with this journal; `asked` are the requests that reached the endpoint. */
function setUp(
  journal: JournaledCall[] = [],
  more: {
    held?: boolean;
    answer?: () => Promise<ModelReply>;
    isLast?: (at: CallPlace, reply: ModelReply) => boolean;
    store?: () => Promise<boolean>;
    now?: () => number;
  } = {},
): {
  model: ReturnType<typeof createTrialModel>;
  asked: string[];
  written: JournalEntry[];
  call: (text: string, at: CallPlace) => Promise<ModelReply>;
} {
  const asked: string[] = [];
  const written: JournalEntry[] = [];
  const client: ModelClient = {
    complete: (request) => {
      asked.push(request.messages[0]?.content ?? '');
      return more.answer === undefined
        ? Promise.resolve(replyTo(`new ${request.messages[0]?.content}`))
        : more.answer();
    },
  };
  const writer = {
    journal: (entry: JournalEntry) => {
      written.push(entry);
      return more.store === undefined ? Promise.resolve(more.held ?? true) : more.store();
    },
  } as unknown as TrialWriter;
  let clock = 1_000;
  const model = createTrialModel({
    client,
    key: { evaluation_id: 'e', case_id: 'c', trial_index: 1 },
    fence: 7,
    journal,
    writer,
    prices: { m: { input: 1_000_000, output: 2_000_000 } },
    now: more.now ?? (() => (clock += 25)),
    ...(more.isLast === undefined ? {} : { isLast: more.isLast }),
  });
  const call = (text: string, at: CallPlace): Promise<ModelReply> =>
    model.complete(ask(text), { place: at, signal: new AbortController().signal, timeoutMs: 1 });
  return { model, asked, written, call };
}

test('a call is made, journaled under its place and fence, and counted', async () => {
  const { model, asked, written, call } = setUp();
  expect(await call('a', place(0))).toMatchObject({ content: 'new a' });
  expect(asked).toEqual(['a']);
  expect(written).toMatchObject([
    { fence: 7, role: 'agent', sequence: 0, request_hash: hashValue(ask('a')), latency_ms: 25, cost_usd: 6 + 8 },
  ]);
  expect(model.spent('agent')).toEqual({ costUsd: 14, tokens: 10 });
  expect(model.spent('judge')).toEqual({ costUsd: 0, tokens: 0 });
  expect(model.failure()).toBeNull();
});

test('what is replayed takes the time it took: an interrupted trial is no faster than another', async () => {
  const sub = (path: string): CallPlace => place(0, { path });
  const { model, call } = setUp(
    [
      journaled(place(0), ask('a'), replyTo('old a'), 300),
      journaled(place(1), ask('b'), replyTo('old b'), 200),
      journaled(sub('x'), ask('c'), replyTo('old c'), 1_000),
      journaled(sub('y'), ask('d'), replyTo('old d'), 700),
    ],
    { now: () => 5_000 },
  );
  expect(model.now()).toBe(5_000);
  await call('a', place(0));
  await call('b', place(1));
  expect(model.now()).toBe(5_500);
  // Sub-agents side by side.
  await Promise.all([call('c', sub('x')), call('d', sub('y'))]);
  expect(model.now()).toBe(6_500);
  await call('new', place(2));
  expect(model.now()).toBe(6_500);
});

test('R13: what is in the journal is replayed, and the first missing call is made', async () => {
  const { model, asked, written, call } = setUp([
    journaled(place(0), ask('a'), replyTo('old a')),
    journaled(place(1), ask('b'), replyTo('old b')),
  ]);
  expect(await call('a', place(0))).toMatchObject({ content: 'old a', replayed: true });
  expect(await call('b', place(1))).toMatchObject({ content: 'old b', replayed: true });
  expect(await call('c', place(2))).not.toHaveProperty('replayed');
  expect(asked).toEqual(['c']);
  expect(written.map((entry) => entry.sequence)).toEqual([2]);
  // Replayed calls count as if they had been made now: totals do not depend on where it was interrupted.
  expect(model.spent('agent').tokens).toBe(30);
});

test('when a request differs, the rest of that conversation is discarded, and of no other', async () => {
  const judge = place(0, { role: 'judge', dimension: 'answer_quality' });
  const sub = place(0, { path: 'helper' });
  const { asked, call } = setUp([
    journaled(place(0), ask('a'), replyTo('old a')),
    journaled(place(1), ask('b'), replyTo('old b')),
    journaled(place(2), ask('c'), replyTo('old c')),
    journaled(judge, ask('j'), replyTo('old j')),
    journaled(sub, ask('s'), replyTo('old s')),
  ]);
  await call('a', place(0));
  expect(await call('b, said otherwise', place(1))).toMatchObject({ content: 'new b, said otherwise' });
  // It would match, but it answered another conversation.
  expect(await call('c', place(2))).toMatchObject({ content: 'new c' });
  expect(await call('j', judge)).toMatchObject({ content: 'old j' });
  expect(await call('s', sub)).toMatchObject({ content: 'old s' });
  expect(asked).toEqual(['b, said otherwise', 'c']);
});

test('a call that was fenced off fails the trial, even when the agent swallows the error', async () => {
  const { model, call } = setUp([], { held: false });
  await expect(call('a', place(0))).rejects.toBeInstanceOf(FencedError);
  expect(model.failure()).toBeInstanceOf(FencedError);
});

test.each([
  ['server_error', true],
  ['rate_limit', true],
  ['unauthorized', true],
  ['context_length', false],
  ['content_filter', false],
  ['timeout', false],
  ['aborted', false],
] as const)('a failed call (%s) fails the trial whatever the agent makes of it: %s', async (kind, ends) => {
  const error = new ModelError(kind, 'no');
  const { model, written, call } = setUp([], { answer: () => Promise.reject(error) });
  await expect(call('a', place(0))).rejects.toBe(error);
  expect(model.failure()).toBe(ends ? error : null);
  expect(written).toEqual([]);
});

test('one call without usage makes the sum unknown, never smaller', async () => {
  const { model, call } = setUp([], { answer: () => Promise.resolve(replyTo('x', null)) });
  await call('a', place(0));
  expect(model.spent('agent')).toEqual({ costUsd: null, tokens: null });
});

test('a last reply is left to the write that follows; a call after it records it first', async () => {
  const { model, written, call } = setUp([], { isLast: (at) => at.sequence !== 1 });
  await call('a', place(0));
  expect(written).toEqual([]);
  await call('b', place(1));
  expect(written.map((entry) => entry.sequence)).toEqual([0, 1]);
  await call('c', place(2));
  expect(model.takeUnrecorded().map((entry) => entry.sequence)).toEqual([2]);
  expect(model.takeUnrecorded()).toEqual([]);
  await model.record();
  expect(written).toHaveLength(2);
});

test('while another call is under way no reply is the last', async () => {
  const replies: (() => void)[] = [];
  const answer = (): Promise<ModelReply> => new Promise((resolve) => replies.push(() => resolve(replyTo('x'))));
  const { written, model, call } = setUp([], { answer, isLast: () => true });
  const both = [call('a', place(0, { dimension: 'a' })), call('b', place(0, { dimension: 'b' }))];
  await expect.poll(() => replies.length).toBe(2);
  replies[0]?.();
  await both[0];
  expect(written.map((entry) => entry.dimension)).toEqual(['a']);
  replies[1]?.();
  await both[1];
  expect(model.takeUnrecorded().map((entry) => entry.dimension)).toEqual(['b']);
});

test('a step that fails records its last reply all the same; fenced off, it says so', async () => {
  const kept = setUp([], { isLast: () => true });
  await kept.call('a', place(0));
  await kept.model.record();
  expect(kept.written).toHaveLength(1);
  const lost = setUp([], { isLast: () => true, held: false });
  await lost.call('a', place(0));
  await expect(lost.model.record()).rejects.toBeInstanceOf(FencedError);
});

test('R14: a call that could not be stored fails the trial, even when the agent swallows the error', async () => {
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const { model, call } = setUp([], { store: () => Promise.reject(away) });
  await call('a', place(0)).catch(() => undefined);
  expect(model.failure()).toBe(away);
});

test('R14: the time in which calls are being stored is known, calls side by side counted once', async () => {
  const clock = { now: 0 };
  const storing: ((held: boolean) => void)[] = [];
  const store = (): Promise<boolean> => new Promise((resolve) => storing.push(resolve));
  const { model, call } = setUp([], { store, now: () => clock.now });
  expect(model.waitedForJournal()).toBe(0);
  const calls = [call('a', place(0, { path: '1' })), call('b', place(0, { path: '2' }))];
  await vi.waitFor(() => expect(storing).toHaveLength(2));
  clock.now = 40_000;
  expect(model.waitedForJournal()).toBe(40_000);
  storing[0]!(true);
  await calls[0];
  clock.now = 50_000;
  storing[1]!(true);
  await calls[1];
  clock.now = 90_000;
  expect(model.waitedForJournal()).toBe(50_000);
  const next = call('c', place(1));
  await vi.waitFor(() => expect(storing).toHaveLength(3));
  clock.now = 91_000;
  expect(model.waitedForJournal()).toBe(51_000);
  storing[2]!(true);
  await next;
});
