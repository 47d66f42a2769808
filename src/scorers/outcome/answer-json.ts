import { parseJson } from '../../core/lossless-json.ts';
import type { Json } from '../../core/json.ts';
import type { Criterion } from './criterion.ts';
import { schemaViolations } from '../values/json-schema.ts';
import { checkPath } from './path-check.ts';
import { preview } from '../values/preview.ts';
import type { ScoringInput } from '../scorer.ts';

const FENCE = /^```[A-Za-z0-9]{0,20}[ \t]*\r?\n([\s\S]*?)\r?\n```$/;

/** `expected.answer_json`: the answer is JSON (a code fence around all of it is allowed), fits the schema, and every path has its value. */
export function answerJson({ evalCase, trajectory }: ScoringInput): Criterion[] {
  const wanted = evalCase.expected.answer_json;
  if (wanted === undefined) return [];
  const { answer } = trajectory;
  if (answer === null) return [{ holds: false, reason: 'wanted JSON, but the agent gave no answer' }];
  const trimmed = answer.trim();
  const parsed = parseJson(FENCE.exec(trimmed)?.[1] ?? trimmed);
  if (!parsed.ok) return [{ holds: false, reason: `the answer is not JSON: ${parsed.error}; got ${preview(answer)}` }];
  const paths = wanted.equals ?? [];
  const checks = [
    ...(wanted.schema === undefined ? [] : [checkSchema(parsed.value, wanted.schema)]),
    ...paths.map((check) => checkPath(parsed.value, check, 'answer')),
  ];
  return checks.length > 0 ? checks : [{ holds: true, reason: 'the answer is JSON' }];
}

function checkSchema(value: Json, schema: Json): Criterion {
  const violation = schemaViolations(value, schema)[0];
  if (violation === undefined) return { holds: true, reason: 'the answer fits its schema' };
  return { holds: false, reason: `answer ${violation.path}: ${violation.message}` };
}
