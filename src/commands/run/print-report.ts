import type { EvaluationRow } from '../../db/evaluations.ts';
import type { NextStep } from '../../report/report-model.ts';
import type { CommandContext } from '../context.ts';
import type { Session } from '../session.ts';
import { layoutOf } from './layout-of.ts';

interface PrintOptions {
  json: boolean;
  nextSteps?: NextStep[];
}

/** Loads the code that prints a report. What is wrong with it, {@link printReport} says. */
export function preloadReport(options: PrintOptions): void {
  load(options).catch(() => undefined);
}

/** Prints the report of a stored evaluation and returns the exit code of its verdict. */
export async function printReport(
  context: CommandContext,
  session: Session,
  row: EvaluationRow,
  options: PrintOptions,
): Promise<number> {
  const [storedReport, render] = await load(options);
  const report = await storedReport(session.db, row, options.nextSteps);
  context.stdout(render(report, layoutOf(context)));
  return report.verdict.exit_code;
}

function load({ json }: PrintOptions) {
  return Promise.all([
    import('../stored/stored-report.ts').then((code) => code.storedReport),
    json
      ? import('../../report/json.ts').then((code) => code.renderJson)
      : import('../../report/text.ts').then((code) => code.renderText),
  ]);
}
