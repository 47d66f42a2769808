import type { z } from 'zod';
import { didYouMean } from '../../core/did-you-mean.ts';
import type { Problem } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { describe, errorAt, formatPath, valueAt } from '../readers/source.ts';
import type { Path, Place } from '../readers/source.ts';

type Issue = z.core.$ZodIssue;

export interface ProblemContext {
  /** The value that was parsed. */
  value: Json;
  place: (path: Path, target?: 'key' | 'value') => Place;
  /** What every message starts with, such as the case it is about. */
  prefix?: string;
  /** How a path is written in a message; default as it is. */
  name?: (path: Path) => string;
}

/** What zod found wrong, as problems with places: what was expected, what was found, what was probably meant. */
export function zodProblems(issues: readonly Issue[], context: ProblemContext): Problem[] {
  return issues.flatMap((issue) => problemsOf(issue, [], context));
}

function problemsOf(issue: Issue, base: Path, context: ProblemContext): Problem[] {
  const path = [...base, ...(issue.path as (string | number)[])];
  const name = (context.name ?? formatPath)(path);
  const label = `${context.prefix ?? ''}${name === '' ? '' : `${name}: `}`;
  const at = (message: string): Problem => errorAt(context.place(path), `${label}${message}`);
  const value = valueAt(context.value, path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const messages = issue.message.split('\n');
      return issue.keys.map((key, i) =>
        errorAt(context.place([...path, key], 'key'), `${label}${messages[i] ?? `unknown key "${key}"`}`),
      );
    }
    case 'invalid_union':
      if (issue.errors.length === 0) return [discriminatorProblem(issue, path, value, context)];
      return unionProblems(issue, path, context) ?? [at(`expected ${wanted(issue, value)}, got ${describe(value)}`)];
    case 'invalid_type':
      if (value === undefined) return [missing(path, issue.expected, context)];
      return [at(`expected ${typeName(issue.expected)}, got ${describe(value)}${quoteHint(issue.expected, value)}`)];
    case 'invalid_value': {
      if (value === undefined) return [missing(path, `one of ${issue.values.map(String).join(', ')}`, context)];
      const known = issue.values.map(String);
      const meant = typeof value === 'string' ? didYouMean(value, known) : '';
      return [at(`expected ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}, got ${describe(value)}${meant}`)];
    }
    case 'too_small':
      return [at(sizeMessage(issue.message, issue.origin, 'at least', issue.minimum, value))];
    case 'too_big':
      return [at(sizeMessage(issue.message, issue.origin, 'at most', issue.maximum, value))];
    case 'custom':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
      if (value === undefined) return [at(`missing; ${issue.message}`)];
      return [at(/^expected an? /.test(issue.message) ? `${issue.message}, got ${describe(value)}` : issue.message)];
  }
}

function missing(path: Path, expected: string, context: ProblemContext): Problem {
  const name = (context.name ?? formatPath)(path);
  return errorAt(context.place(path.slice(0, -1)), `${context.prefix ?? ''}missing: ${name} (${typeName(expected)})`);
}

function quoteHint(expected: string, value: unknown): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  return expected === 'string' && scalar ? `; put it in quotes: "${String(value)}"` : '';
}

function sizeMessage(custom: string, origin: string, bound: string, limit: number | bigint, value: unknown): string {
  // Zod's own messages start so; a message of the schema says it better.
  if (!/^Too (small|big)/.test(custom)) return custom;
  const unit = origin === 'array' ? ' items' : origin === 'string' ? ' characters' : '';
  const got = typeof value === 'number' ? `, got ${value}` : '';
  return `expected ${bound} ${limit}${unit}${got}`;
}

/** A key such as `kind` or `type` that tells alternatives apart has none of the known values. */
function discriminatorProblem(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Path,
  value: Json | undefined,
  context: ProblemContext,
): Problem {
  const known = ('options' in issue ? (issue.options ?? []) : []).map(String);
  const oneOf = `one of ${known.join(', ')}`;
  if (value === undefined) return missing(path, oneOf, context);
  const label = `${context.prefix ?? ''}${(context.name ?? formatPath)(path)}: `;
  const meant = typeof value === 'string' ? didYouMean(value, known) : '';
  return errorAt(context.place(path), `${label}expected ${oneOf}, got ${describe(value)}${meant}`);
}

/** The problems of the alternative that was probably meant: the only one whose own type fits. */
function unionProblems(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Path,
  context: ProblemContext,
): Problem[] | null {
  const fitting = issue.errors.filter(
    (issues) => !issues.some((inner) => inner.path.length === 0 && isTypeIssue(inner)),
  );
  const only = fitting.length === 1 ? fitting[0] : undefined;
  return only === undefined ? null : only.flatMap((inner) => problemsOf(inner as Issue, path, context));
}

function isTypeIssue(issue: { code?: string | undefined }): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'custom';
}

function wanted(issue: Extract<Issue, { code: 'invalid_union' }>, value: unknown): string {
  const names = issue.errors.flatMap((issues) =>
    issues
      .filter((inner) => inner.path.length === 0)
      .map((inner) => {
        if (inner.code === 'invalid_type') return typeName(inner.expected);
        if (inner.code === 'invalid_value') {
          const known = inner.values.map(String);
          return `one of ${known.join(', ')}${typeof value === 'string' ? didYouMean(value, known) : ''}`;
        }
        return inner.message.replace(/^expected /, '');
      }),
  );
  return names.length === 0 ? 'something else' : [...new Set(names)].join(' or ');
}

const TYPE_NAMES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object (key: value)',
  record: 'an object (key: value)',
};

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected;
}
