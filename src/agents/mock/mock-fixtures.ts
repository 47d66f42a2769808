import type { EvalCase, MockFixture } from '../../core/case.ts';
import { deepEqual } from '../../core/deep-equal.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Suite } from '../../core/suite.ts';
import { getPath } from './mock-state.ts';

/** Fixture group that applies to every case of a suite, after the case's own and the ones it names. */
const DEFAULT_FIXTURES = 'default';

/** The fixtures of one case in the order they are tried, and the groups it names that the suite does not have. */
export interface CaseFixtures {
  fixtures: MockFixture[];
  missing: string[];
}

/**
 * Fixtures of a case: its own first, then the groups it names in their order, then the suite's `default` group; within
 * each of these three the most specific first (exact, then subset by how many arguments it names, then any; among
 * equals by how many state paths `when` names), listed order among equals.
 */
export function fixturesOf(evalCase: EvalCase, suite: Pick<Suite, 'fixtures'>): CaseFixtures {
  const names = evalCase.mock?.fixtures ?? [];
  const missing = names.filter((name) => !Object.hasOwn(suite.fixtures, name));
  const named = names.flatMap((name) => (Object.hasOwn(suite.fixtures, name) ? (suite.fixtures[name] ?? []) : []));
  const general = Object.hasOwn(suite.fixtures, DEFAULT_FIXTURES) && !names.includes(DEFAULT_FIXTURES);
  const shared = general ? (suite.fixtures[DEFAULT_FIXTURES] ?? []) : [];
  const fixtures = [evalCase.mock?.tools ?? [], named, shared].flatMap(mostSpecificFirst);
  return { fixtures, missing };
}

function mostSpecificFirst(fixtures: readonly MockFixture[]): MockFixture[] {
  const stateful = (fixture: MockFixture): number => Object.keys(fixture.when ?? {}).length;
  return fixtures.toSorted((a, b) => specificity(b) - specificity(a) || stateful(b) - stateful(a));
}

function specificity(fixture: MockFixture): number {
  if (fixture.args === undefined || fixture.match === 'any') return 0;
  return fixture.match === 'exact' ? Number.MAX_SAFE_INTEGER : 1 + Object.keys(fixture.args).length;
}

/** Whether a fixture answers a call. Values are compared as in scoring, without coercion. */
export function matchesCall(fixture: MockFixture, tool: string, args: JsonObject): boolean {
  if (fixture.tool !== tool) return false;
  const wanted = fixture.args;
  if (wanted === undefined || fixture.match === 'any') return true;
  if (fixture.match === 'exact') return deepEqual(wanted, args);
  return Object.keys(wanted).every(
    (key) => Object.hasOwn(args, key) && deepEqual(wanted[key] as Json, args[key] as Json),
  );
}

/** Whether the state is as a fixture's `when` wants it; what is not there is null. */
export function holdsInState({ when }: MockFixture, state: JsonObject | null): boolean {
  return Object.entries(when ?? {}).every(([path, value]) => deepEqual(value, getPath(state, path) ?? null));
}
