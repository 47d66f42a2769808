import { EXIT, UserError } from '../../core/errors.ts';

/** Another command has deleted the evaluation while this one was at work on it: exit code 3, there is no verdict. */
export function deletedMeanwhile(id: string, doing: 'followed' | 'canceled'): UserError {
  return new UserError(`Evaluation ${id} was deleted while it was ${doing}.`, {
    exitCode: EXIT.incomplete,
    hint: 'Run its suite again for a new one; `assay list` shows what is stored.',
  });
}
