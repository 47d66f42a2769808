import type { Expected, RelevantDocument } from './case.ts';

/** `expected.doc_ids` written out: a bare id has grade 1; of an id listed twice the last grade counts. */
export function gradedDocuments(expected: Pick<Expected, 'doc_ids'>): RelevantDocument[] {
  const grades = new Map<string, number>();
  for (const document of expected.doc_ids ?? []) {
    if (typeof document === 'string') grades.set(document, 1);
    else grades.set(document.id, document.grade);
  }
  return [...grades].map(([id, grade]) => ({ id, grade }));
}

/** Ids of the documents of `expected.doc_ids` that are relevant (grade above 0), each once. */
export function relevantIds(expected: Pick<Expected, 'doc_ids'>): string[] {
  return gradedDocuments(expected)
    .filter(({ grade }) => grade > 0)
    .map(({ id }) => id);
}
