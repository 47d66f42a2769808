import type { Criterion } from './criterion.ts';
import { compileLinear } from '../values/linear-regex.ts';
import { foldText } from '../values/normalise-text.ts';
import { preview } from '../values/preview.ts';
import type { ScoringInput } from '../scorer.ts';

/** Text checks compare folded text: see normalise-text.ts. */
function comparable(text: string, ignoreCase: boolean): string {
  const folded = foldText(text);
  return ignoreCase ? folded.toLowerCase() : folded;
}

const NO_ANSWER = 'the agent gave no answer';

/** One criterion for each text of `expected.answer_contains`. */
export function answerContains({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const { answer_contains: wanted = [], ignore_case: ignoreCase = false } = evalCase.expected;
  const { answer } = trajectory;
  const text = wanted.length === 0 || answer === null ? '' : comparable(answer, ignoreCase);
  return wanted.map((part) => {
    if (answer === null) return { holds: false, reason: `wanted ${preview(part)} in the answer, but ${NO_ANSWER}` };
    const holds = text.includes(comparable(part, ignoreCase));
    return {
      holds,
      reason: holds ? `${preview(part)} found` : `${preview(part)} is not in the answer ${preview(answer)}`,
    };
  });
}

/** One criterion for each text of `expected.answer_not_contains`; no answer contains nothing. */
export function answerNotContains({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const { answer_not_contains: unwanted = [], ignore_case: ignoreCase = false } = evalCase.expected;
  const text = unwanted.length === 0 ? '' : comparable(trajectory.answer ?? '', ignoreCase);
  return unwanted.map((part) => {
    const holds = !text.includes(comparable(part, ignoreCase));
    return { holds, reason: holds ? `${preview(part)} absent` : `${preview(part)} must not be in the answer` };
  });
}

/** One criterion for each pattern of `expected.answer_matches` (RE2, found anywhere in the answer after NFC). */
export function answerMatches({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const { answer } = trajectory;
  return (evalCase.expected.answer_matches ?? []).map((pattern) => {
    const regex = compileLinear(pattern, false);
    if (typeof regex === 'string') return { holds: null, reason: `answer_matches ${preview(pattern)}: ${regex}` };
    if (answer === null) return { holds: false, reason: `wanted a match of ${preview(pattern)}, but ${NO_ANSWER}` };
    const holds = regex.test(answer.normalize('NFC'));
    const reason = holds
      ? `${preview(pattern)} matches`
      : `${preview(pattern)} matches nothing in the answer ${preview(answer)}`;
    return { holds, reason };
  });
}

/** `expected.answer_equals`: the whole answer, folded, without surrounding white space. */
export function answerEquals({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const wanted = evalCase.expected.answer_equals;
  if (wanted === undefined) return [];
  const { answer } = trajectory;
  if (answer === null) return [{ holds: false, reason: `wanted the answer ${preview(wanted)}, but ${NO_ANSWER}` }];
  const ignoreCase = evalCase.expected.ignore_case ?? false;
  const holds = comparable(answer, ignoreCase).trim() === comparable(wanted, ignoreCase).trim();
  const reason = holds ? 'the answer is as wanted' : `wanted the answer ${preview(wanted)}, got ${preview(answer)}`;
  return [{ holds, reason }];
}
