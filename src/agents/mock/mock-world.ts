import type { EvalCase, MockFailure, MockFixture, MockReply } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Suite } from '../../core/suite.ts';
import { fixturesOf, holdsInState, matchesCall } from './mock-fixtures.ts';
import { parsePath } from './mock-state.ts';
import { type Before, fill, writeState } from './mock-values.ts';
import type { Sleep } from '../sleep.ts';

/** What a tool answered. */
export interface ToolOutcome {
  result: Json;
  error: { kind: string; message: string } | null;
  /** True when no fixture answered. */
  unmatched: boolean;
}

/** The simulated surroundings of one trial. Nothing is shared between trials. */
export interface MockWorld {
  /**
   * Answers one call. Which reply it gets and what it changes is settled at once, in call order; only the answer comes
   * after the delay, so parallel calls give the same result whatever their delays.
   * Rejects with `AbortError` when the signal is aborted during a delay.
   */
  call(tool: string, args: JsonObject, signal: AbortSignal): Promise<ToolOutcome>;
  /** The state now; null when the case has none and no reply set any. */
  state(): JsonObject | null;
}

/**
 * The world of one trial, from the case's mock and the suite's fixtures; mock-values.ts says how replies read the state
 * and the call, and how they write.
 * @throws {UserError} when a path of `set_state` or `when` is not valid.
 */
export function createMockWorld(
  evalCase: EvalCase,
  suite: Pick<Suite, 'fixtures'>,
  options: { sleep: Sleep },
): MockWorld {
  const { fixtures, missing } = fixturesOf(evalCase, suite);
  checkPaths(fixtures);
  const used = new Map<MockFixture, number>();
  let state: JsonObject | null = evalCase.mock?.state ?? null;

  const settle = (reply: MockReply, tool: string, args: JsonObject): ToolOutcome => {
    const before: Before = { state, args };
    const outcome = outcomeOf(reply, tool, (value) => fill(value, before));
    for (const [path, value] of Object.entries(reply.set_state ?? {})) {
      state = writeState(state ?? {}, path, value, before);
    }
    return outcome;
  };

  return {
    async call(tool, args, signal) {
      const fixture = fixtures.find(
        (candidate) => matchesCall(candidate, tool, args) && holdsInState(candidate, state),
      );
      if (fixture === undefined) return unmatchedOutcome(evalCase, tool, args, missing);
      const count = used.get(fixture) ?? 0;
      used.set(fixture, count + 1);
      const reply = fixture.replies[Math.min(count, fixture.replies.length - 1)] ?? {};
      const outcome = settle(reply, tool, args);
      const delay = delayOf(reply);
      if (delay > 0) await options.sleep(delay, signal);
      return outcome;
    },
    state: () => state,
  };
}

function checkPaths(fixtures: readonly MockFixture[]): void {
  for (const { tool, replies, when } of fixtures) {
    const set = replies.flatMap((reply) => Object.keys(reply.set_state ?? {})).find((path) => parsePath(path) === null);
    const read = Object.keys(when ?? {}).find((path) => parsePath(path) === null);
    const bad = set ?? read;
    if (bad === undefined) continue;
    const does = set === undefined ? 'looks at' : 'sets';
    throw new UserError(`the mock fixture of ${tool} ${does} ${JSON.stringify(bad)}, which is no state path`, {
      hint: `Expected something like order.status or order.items[0].price in ${set === undefined ? 'when' : 'set_state'}.`,
    });
  }
}

function delayOf(reply: MockReply): number {
  const timeout = reply.fail?.kind === 'timeout' ? (reply.fail.after_ms ?? 0) : 0;
  return (reply.delay_ms ?? 0) + timeout;
}

function outcomeOf(reply: MockReply, tool: string, resolve: (value: Json) => Json): ToolOutcome {
  if (reply.fail === undefined) return { result: resolve(reply.result ?? null), error: null, unmatched: false };
  if (reply.fail.kind === 'malformed') {
    // The tool did answer: the agent sees the broken text itself, and the record says that it is broken.
    const text = reply.fail.text ?? '{"status": "ok", "data": [';
    return {
      result: text,
      error: { kind: 'malformed', message: `${tool} answered with broken JSON` },
      unmatched: false,
    };
  }
  if (reply.fail.kind === 'truncated') {
    const whole = JSON.stringify(resolve(reply.result ?? null));
    const message = `the answer of ${tool} was cut off`;
    const result = whole.slice(0, reply.fail.chars ?? Math.floor(whole.length / 2));
    return { result, error: { kind: 'truncated', message }, unmatched: false };
  }
  return { result: null, error: { kind: reply.fail.kind, message: failureText(reply.fail, tool) }, unmatched: false };
}

function failureText(fail: Exclude<MockFailure, { kind: 'malformed' | 'truncated' }>, tool: string): string {
  switch (fail.kind) {
    case 'timeout':
      return `${tool} did not answer in time`;
    case 'http_500':
      return fail.message ?? `${tool} failed: HTTP 500 Internal Server Error`;
    case 'not_found':
      return fail.message ?? 'NOT_FOUND';
    case 'rate_limit':
      return fail.message ?? `${tool} failed: HTTP 429 Too Many Requests`;
  }
}

function unmatchedOutcome(evalCase: EvalCase, tool: string, args: JsonObject, missing: string[]): ToolOutcome {
  if (evalCase.mock?.unmatched === 'empty') return { result: null, error: null, unmatched: true };
  const call = `${tool}(${JSON.stringify(args).slice(0, 200)})`;
  const lost = missing.length === 0 ? '' : `; the suite has no fixtures named ${missing.join(', ')}`;
  return { result: null, error: { kind: 'no_fixture', message: `no fixture answers ${call}${lost}` }, unmatched: true };
}
