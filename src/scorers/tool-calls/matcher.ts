import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isMatcher } from '../../core/matcher-object.ts';
import { isNumeric } from '../values/exact-number.ts';
import { compileLinear } from '../values/linear-regex.ts';
import { preview } from '../values/preview.ts';
import { dateFormatProblem, parseDate } from './date-text.ts';

/** True when the argument may be left out. */
export function isOptional(value: Json): boolean {
  return isMatcher(value) && value['optional'] === true;
}

/** Why a matcher cannot be read, and how to mend it; null for a good one. Looks at this matcher only, not inside it. */
export function matcherProblem(matcher: JsonObject): string | null {
  for (const key of Object.keys(matcher)) {
    const problem = key === 'unordered' ? unorderedProblem(matcher) : operandProblem(key, matcher[key] ?? null);
    if (problem !== null) {
      return `${preview(matcher)} reads as a matcher, but ${problem}; write {equals: ${preview(matcher)}} to mean the object itself`;
    }
  }
  return null;
}

function operandProblem(key: string, operand: Json): string | null {
  switch (key) {
    case 'any_of':
      return Array.isArray(operand) ? null : 'any_of wants a list';
    case 'optional':
      return typeof operand === 'boolean' ? null : 'optional wants true or false';
    case 'any':
      return operand === true ? null : 'any wants true';
    case 'number':
      return numberProblem(operand);
    case 'regex':
      return regexProblem(operand);
    case 'date':
      return dateProblem(operand);
    case 'schema':
      return isJsonObject(operand) || typeof operand === 'boolean' ? null : 'schema wants a JSON Schema';
    default:
      return null;
  }
}

/** `unordered: true` alone would accept every value. */
function unorderedProblem(matcher: JsonObject): string | null {
  const operand = matcher['unordered'] ?? null;
  if (Array.isArray(operand)) return null;
  const hasList = Object.keys(matcher).some((key) => key !== 'unordered' && key !== 'optional');
  return typeof operand === 'boolean' && hasList ? null : 'unordered wants a list, or true beside equals';
}

function numberProblem(operand: Json): string | null {
  const wanted = 'number wants {value, abs, rel}, all numbers, abs and rel not negative';
  if (isNumeric(operand)) return null;
  if (!isJsonObject(operand) || !isNumeric(operand['value'] ?? null)) return wanted;
  const { value: _value, abs = 0, rel = 0, ...rest } = operand;
  if (typeof abs !== 'number' || typeof rel !== 'number' || Object.keys(rest).length > 0) return wanted;
  return abs >= 0 && rel >= 0 ? null : wanted;
}

function regexProblem(operand: Json): string | null {
  if (typeof operand !== 'string') return 'regex wants a text';
  const compiled = compileLinear(operand, false);
  return typeof compiled === 'string' ? `its regex is ${compiled}` : null;
}

function dateProblem(operand: Json): string | null {
  const wanted = 'date wants {value: "YYYY-MM-DD…", format: "…"}';
  if (typeof operand === 'string')
    return parseDate(operand, null) === null ? `${preview(operand)} is no ISO date` : null;
  if (!isJsonObject(operand) || typeof operand['value'] !== 'string') return wanted;
  const { value, format, ...rest } = operand;
  if (Object.keys(rest).length > 0) return wanted;
  const formats = format === undefined ? [] : Array.isArray(format) ? format : [format];
  for (const one of formats) {
    const problem = typeof one === 'string' ? dateFormatProblem(one) : wanted;
    if (problem !== null) return problem;
  }
  const texts = formats.filter((one) => typeof one === 'string');
  const parsed = parseDate(value as string, null) ?? texts.map((one) => parseDate(value as string, one)).find(Boolean);
  return parsed ? null : `${preview(value ?? null)} is no date of the form YYYY-MM-DD or of its format`;
}

/** Every matcher in expected arguments that cannot be read, with its path. For checks before a run. */
export function matcherProblems(args: JsonObject): { path: string; message: string }[] {
  const found: { path: string; message: string }[] = [];
  const visit = (value: Json, path: string): void => {
    if (Array.isArray(value)) value.forEach((item, at) => visit(item, `${path}[${at}]`));
    else if (isMatcher(value)) {
      const problem = matcherProblem(value);
      if (problem !== null) found.push({ path, message: problem });
      else for (const key of ['any_of', 'unordered']) if (value[key] !== undefined) visit(value[key], path);
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) visit(value[key] ?? null, `${path}.${key}`);
    }
  };
  for (const key of Object.keys(args)) visit(args[key] ?? null, key);
  return found;
}
