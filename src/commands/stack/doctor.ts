import type { Command } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { Check } from '../../local/check.ts';
import type { CommandContext } from '../context.ts';

/** `assay doctor`: what a run needs, line by line, and how to mend what is missing. Exit code 4 when something fails. */
export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('check Node, Temporal, Postgres, the model endpoint and the folder; each line says how to mend it')
    .option('--json', 'print the checks as one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  assay doctor\n  assay doctor --json | jq ".checks[] | select(.status != \\"ok\\")"\n',
    )
    .action(async (flags: { json?: boolean }) => {
      const [{ homeFolder }, { diagnose }] = await Promise.all([
        import('../../config.ts'),
        import('../../local/doctor.ts'),
      ]);
      // Not readConfig: a wrong variable is to be one line among the others.
      const checks = await diagnose(context.env, homeFolder(context.env, context.cwd));
      const failed = checks.filter((check) => check.status === 'fail').length;
      if (flags.json === true) context.stdout(`${JSON.stringify({ ok: failed === 0, checks }, null, 2)}\n`);
      else context.stdout(renderChecks(checks));
      if (failed > 0) {
        throw new UserError(`${failed} of ${checks.length} checks failed.`, {
          exitCode: EXIT.infrastructure,
          hint: 'Mend the lines marked fail, then run `assay doctor` again.',
        });
      }
    });
}

/** One aligned line a check, its remedy below it. */
export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  return checks
    .map((check) => {
      const line = `${check.status.padEnd(4)}  ${check.name.padEnd(width)}  ${check.detail}\n`;
      return check.hint === null ? line : `${line}      ${''.padEnd(width)}  → ${check.hint}\n`;
    })
    .join('');
}
