import type { EvalCase, RagDocument } from '../../core/case.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { listed, stepsOf } from './steps.ts';

/**
 * What was retrieved, best first: the documents the agent reports, with the case's text of each; where it reports none, the
 * documents it was given and what its tools returned. Null = nothing of the kind is recorded.
 */
export function retrievedOf(evalCase: EvalCase, trajectory: Trajectory): string | null {
  const documents = evalCase.context?.documents ?? [];
  const ids = trajectory.retrieved_doc_ids;
  if (ids !== null) return listed(ids.map((id) => documentLine(id, documents))) ?? 'nothing was retrieved';
  const parts = [documentsOf(evalCase), trajectory.tool_calls.length === 0 ? null : stepsOf(trajectory)];
  const given = parts.filter((part) => part !== null);
  return given.length === 0 ? null : given.join('\n\n');
}

/** The documents of the case. Null = none. */
export function documentsOf(evalCase: EvalCase): string | null {
  const documents = evalCase.context?.documents ?? [];
  return listed(documents.map(({ id }) => documentLine(id, documents)));
}

function documentLine(id: string, documents: readonly RagDocument[]): string {
  const found = documents.find((document) => document.id === id);
  if (found === undefined) return `[${id}]`;
  return `[${id}]${found.title === undefined ? '' : ` ${found.title}`} ${found.text}`;
}
