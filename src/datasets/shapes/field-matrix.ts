import type { Json } from '../../core/json.ts';
import type { Path } from '../readers/source.ts';
import { valueAt } from '../readers/source.ts';
import type { ShapeC } from './shape-c.ts';

type Need = 'required' | 'optional' | 'not_applicable';
type Dimension = ShapeC['dimension'];

interface Field {
  path: Path;
  required: readonly Dimension[] | 'all';
  optional?: readonly Dimension[];
}

/** Which fields of shape C a dimension needs; where neither required nor optional, the field does not apply. */
const FIELDS: readonly Field[] = [
  { path: ['expected', 'answerCriteria'], required: 'all' },
  {
    path: ['context', 'availableTools'],
    required: ['tool_selection', 'subagent_isolation'],
    optional: ['rag_recall', 'answer_completeness'],
  },
  { path: ['context', 'memorySnapshot'], required: ['multi_turn_coherence'] },
  { path: ['context', 'ragDocuments'], required: ['rag_recall', 'answer_completeness'] },
  { path: ['expected', 'docIds'], required: ['rag_recall', 'answer_completeness'] },
  { path: ['context', 'promptSegments'], required: ['prompt_assembly'] },
  { path: ['context', 'subAgentBehavior'], required: ['subagent_isolation'] },
  {
    path: ['expected', 'tools'],
    required: ['tool_selection', 'subagent_isolation'],
    optional: ['rag_recall', 'answer_completeness'],
  },
];

export interface MatrixFinding {
  path: Path;
  kind: 'missing' | 'not_applicable';
}

/**
 * Checks a record of shape C against its dimension: required fields that are missing (null, `""`, `[]` and `{}` are
 * missing, but `expected.tools: []` says that no call is right), and real values where the field does not apply.
 */
export function checkFieldMatrix(record: ShapeC): MatrixFinding[] {
  const findings: MatrixFinding[] = [];
  for (const field of FIELDS) {
    const value = valueAt(record as Json, field.path);
    const need = needOf(field, record.dimension);
    const present = isReal(value) || (isToolList(field) && Array.isArray(value));
    if (need === 'required' && !present) findings.push({ path: field.path, kind: 'missing' });
    if (need === 'not_applicable' && isReal(value)) findings.push({ path: field.path, kind: 'not_applicable' });
  }
  return findings;
}

function isToolList(field: Field): boolean {
  return field.path[0] === 'expected' && field.path[1] === 'tools';
}

function needOf(field: Field, dimension: Dimension): Need {
  if (field.required === 'all' || field.required.includes(dimension)) return 'required';
  return field.optional?.includes(dimension) === true ? 'optional' : 'not_applicable';
}

function isReal(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
