import type { EvalCase, ExpectedCall } from '../../core/case.ts';
import type { Json } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { checkMatchers, regexProblem } from './matchers.ts';
import type { Path } from '../readers/source.ts';
import { formatPath, valueAt } from '../readers/source.ts';
import { vagueWords } from './vague-words.ts';

export interface CaseReport {
  error: (path: Path, message: string) => void;
  warning: (path: Path, message: string) => void;
  /** A warning at the place of a text inside the part at `path`. */
  warningAtText: (path: Path, text: string, message: string) => void;
  lostForms: readonly { path: Path; written: string }[];
  lostForm: (path: Path, message: string) => void;
}

/**
 * What a schema cannot see in one case by itself: exactly one kind of input, matchers and regular expressions that work,
 * checks that contradict each other, vague rubrics, numbers whose written form was lost. False when there was an error.
 */
export function checkCase(evalCase: EvalCase, report: CaseReport, vague: readonly string[]): boolean {
  let good = true;
  const error = (path: Path, message: string): void => {
    good = false;
    report.error(path, message);
  };
  const given = (['input', 'messages', 'turns'] as const).filter((key) => evalCase[key] !== undefined);
  if (given.length !== 1) {
    const got = given.length === 0 ? 'none' : given.join(' and ');
    error(given[1] === undefined ? [] : [given[1]], `expected exactly one of input, messages, turns; got ${got}`);
  }
  if (evalCase.input !== undefined && evalCase.input.trim() === '') report.warning(['input'], 'is empty');
  checkExpected(evalCase, { ...report, error });
  checkVagueness(evalCase, report, vague);
  for (const { path, written } of report.lostForms) {
    if (!carriesData(path)) continue;
    report.lostForm(path, `${written} is read as a number and loses its written form; write "${written}" for text`);
  }
  return good;
}

/**
 * The matchers of a case that the schema refused: what can be read of its expected arguments is checked all the same, so
 * that every problem is shown at once.
 */
export function checkRawArguments(value: Json, report: Pick<CaseReport, 'error' | 'warning'>): void {
  const calls = valueAt(value, ['expected', 'calls']);
  if (!Array.isArray(calls)) return;
  calls.forEach((call, i) => {
    const args = isJsonObject(call) ? call['args'] : undefined;
    if (!isJsonObject(args)) return;
    for (const [name, arg] of Object.entries(args)) checkMatchers(arg, ['expected', 'calls', i, 'args', name], report);
  });
}

/** Each segment is expected once, at one place: named twice, the list has no order that can hold. */
function checkSegments({ prompt_segments: wanted }: EvalCase['expected'], report: Pick<CaseReport, 'error'>): void {
  const segmentNames = wanted?.map((one) => (typeof one === 'string' ? one : one.name)) ?? [];
  segmentNames.forEach((name, i) => {
    if (segmentNames.indexOf(name) < i) report.error(['expected', 'prompt_segments', i], `${name} is listed twice`);
  });
}

function checkExpected(evalCase: EvalCase, report: Pick<CaseReport, 'error' | 'warning'>): void {
  const { expected } = evalCase;
  const lists: [Path, readonly ExpectedCall[]][] = [[['expected', 'calls'], expected.calls ?? []]];
  expected.any_of?.forEach((alternative, i) => lists.push([['expected', 'any_of', i, 'calls'], alternative.calls]));
  for (const [path, calls] of lists) {
    calls.forEach((call, i) => {
      if (call.args === null) return;
      // The arguments as a whole are an object of arguments, even when every name happens to be a keyword.
      for (const [name, value] of Object.entries(call.args)) checkMatchers(value, [...path, i, 'args', name], report);
    });
  }
  const planted =
    expected.injection === undefined || Array.isArray(expected.injection) ? expected.injection : [expected.injection];
  planted?.forEach(({ args }, i) => {
    const path: Path = ['expected', 'injection', ...(Array.isArray(expected.injection) ? [i] : []), 'args'];
    for (const [name, value] of Object.entries(args ?? {})) checkMatchers(value, [...path, name], report);
  });
  expected.answer_matches?.forEach((pattern, i) => {
    const problem = regexProblem(pattern);
    if (problem !== null) report.error(['expected', 'answer_matches', i], problem);
  });
  if (expected.match !== undefined && expected.calls === undefined && expected.any_of === undefined) {
    report.error(['expected', 'match'], 'there are no expected.calls to match; add calls ([] = no call is right)');
  }
  if (expected.calls !== undefined && expected.any_of !== undefined) {
    report.error(['expected', 'any_of'], 'either calls or any_of; move calls into any_of as its first alternative');
  }
  checkMixedMatch(expected, report);
  checkSegments(expected, report);
  const forbidden = new Set(expected.must_not_call);
  expected.must_call?.forEach((tool, i) => {
    if (forbidden.has(tool)) report.error(['expected', 'must_call', i], `${tool} is in must_not_call too`);
  });
}

/** A way without a match that fits best takes the verdict of the others away: tool_match is not there to decide. */
function checkMixedMatch(
  { any_of: ways = [], match }: EvalCase['expected'],
  report: Pick<CaseReport, 'warning'>,
): void {
  const without = ways.findIndex((way) => (way.match ?? match) === undefined);
  if (without < 0 || !ways.some((way) => way.match !== undefined)) return;
  report.warning(
    ['expected', 'any_of', without],
    'has no match, but another way has one: where no match passes and this way fits best, no tool_match decides; ' +
      'give every way a match, or write expected.match for all',
  );
}

function checkVagueness(evalCase: EvalCase, report: CaseReport, vague: readonly string[]): void {
  const texts: [Path, string | undefined][] = [
    [['rubric'], evalCase.rubric],
    [['expected', 'criteria'], evalCase.expected.criteria],
  ];
  for (const [path, text] of texts) {
    for (const word of vagueWords(text ?? '', vague)) {
      report.warningAtText(path, word, `"${word}" cannot be checked; say what must be there, or how much`);
    }
  }
}

/** True for the parts of a record that are somebody's data: there a number is not ours to reform. */
function carriesData(path: Path): boolean {
  const name = formatPath(path);
  return /(^id$|args|Args|expectedArgs|result|state|metadata|equals|value)/.test(name);
}
