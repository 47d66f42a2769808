import type { z } from 'zod';
import type { EvalCase } from '../../core/case.ts';
import { caseSchema } from '../../core/case.schema.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { checkCase, checkRawArguments } from '../checks/check-case.ts';
import type { CaseReport } from '../checks/check-case.ts';
import { writeOutCase } from './canonical-sugar.ts';
import { detectShape } from './detect-shape.ts';
import { SHAPE_NAMES, sourcePath } from './draft.ts';
import type { Draft, Shape } from './draft.ts';
import { checkFieldMatrix } from './field-matrix.ts';
import { draftFromShapeA, shapeASchema } from './shape-a.ts';
import { draftFromShapeB, shapeBSchema } from './shape-b.ts';
import { draftFromShapeC, shapeCSchema } from './shape-c.ts';
import { describe, errorAt, formatPath, warningAt } from '../readers/source.ts';
import type { Path, Report, SourceValue } from '../readers/source.ts';
import { VAGUE_WORDS } from '../checks/vague-words.ts';
import { zodProblems } from '../checks/zod-problems.ts';

/**
 * A record of any shape as a canonical case. Every problem is reported at its place, in the words of the shape the record
 * is written in; null when there was an error.
 * @param vague words a rubric is warned for
 */
export function convertCase(
  source: SourceValue,
  report: Report,
  vague: readonly string[] = VAGUE_WORDS,
): EvalCase | null {
  const record = source.value;
  if (!isJsonObject(record)) {
    report(errorAt(source.place([]), `expected a case (an object with id and input), got ${describe(record)}`));
    return null;
  }
  const shape = detectShape(record);
  const prefix = caseLabel(record, shape);
  const named = (path: Path): string => `${prefix}${path.length === 0 ? '' : `${formatPath(path)}: `}`;
  const draft = draftOf(shape, record, source, report);
  if (draft === null) return null;
  const value = writeOutCase(draft.value);
  const origin = (path: Path): Path => sourcePath(draft, path);
  const messages: CaseReport = {
    error: (path, message) => report(errorAt(source.place(origin(path)), `${named(origin(path))}${message}`)),
    warning: (path, message) => report(warningAt(source.place(origin(path)), `${named(origin(path))}${message}`)),
    warningAtText: (path, text, message) =>
      report(warningAt(source.placeOfText(origin(path), text), `${named(origin(path))}${message}`)),
    // Lost forms are where the user wrote them: no way back from the canonical path is needed.
    lostForms: source.lostForms,
    lostForm: (path, message) => report(warningAt(source.place(path), `${named(path)}${message}`)),
  };
  const parsed = caseSchema.safeParse(value);
  if (!parsed.success) {
    const context = {
      value,
      place: (path: Path, target?: 'key' | 'value') => source.place(origin(path), target),
      prefix,
      name: (path: Path) => formatPath(origin(path)),
    };
    zodProblems(parsed.error.issues, context).forEach(report);
    checkRawArguments(value, messages);
    return null;
  }
  return checkCase(parsed.data, messages, vague) ? parsed.data : null;
}

function caseLabel(record: JsonObject, shape: Shape): string {
  const id = record['id'];
  const name = typeof id === 'string' && id !== '' ? `case "${id.length > 60 ? `${id.slice(0, 57)}…` : id}"` : 'case';
  return shape === 'canonical' ? `${name}: ` : `${name} (${SHAPE_NAMES[shape]}): `;
}

function draftOf(shape: Shape, record: JsonObject, source: SourceValue, report: Report): Draft | null {
  const read = <T>(schema: z.ZodType<T>): T | null => {
    const parsed = schema.safeParse(record);
    if (parsed.success) return parsed.data;
    const context = { value: record as Json, place: source.place, prefix: caseLabel(record, shape) };
    zodProblems(parsed.error.issues, context).forEach(report);
    return null;
  };
  switch (shape) {
    case 'A': {
      const parsed = read(shapeASchema);
      return parsed === null ? null : draftFromShapeA(parsed);
    }
    case 'B': {
      const parsed = read(shapeBSchema);
      return parsed === null ? null : draftFromShapeB(parsed);
    }
    case 'C': {
      const parsed = read(shapeCSchema);
      if (parsed === null) return null;
      const label = caseLabel(record, shape);
      const missing = checkFieldMatrix(parsed).filter((finding) => {
        const name = `${label}${formatPath(finding.path)}`;
        const key = source.place(finding.path, 'key');
        if (finding.kind === 'missing') report(errorAt(key, `${name}: required for dimension ${parsed.dimension}`));
        else report(warningAt(key, `${name}: does not apply to dimension ${parsed.dimension}; remove it`));
        return finding.kind === 'missing';
      });
      return missing.length > 0 ? null : draftFromShapeC(parsed);
    }
    case 'D':
    case 'canonical':
      return { shape, value: record, origins: [] };
    default:
      return shape satisfies never;
  }
}
