import { UserError } from '../core/errors.ts';
import { fail, redact, type Check } from './check.ts';
import { checkFolder, checkNode, checkPostgresBinaries, checkTemporalBinary } from './check-machine.ts';
import { checkModel } from './check-model.ts';
import { checkPostgres } from './check-postgres.ts';
import { checkTemporal } from './check-temporal.ts';
import type { Env } from './env.ts';

/** Looks at everything a run needs, without starting or changing anything. Every look is bounded to seconds. */
export async function diagnose(env: Env, home: string): Promise<Check[]> {
  const embeddedTemporal = (env['TEMPORAL_ADDRESS'] ?? '') === '';
  const embeddedPostgres = (env['DATABASE_URL'] ?? '') === '';
  const looks: [string, () => Check | Check[] | Promise<Check | Check[]>][] = [
    ['Node', () => checkNode(process.versions.node)],
    ['Folder', () => (embeddedTemporal || embeddedPostgres ? checkFolder(home) : [])],
    ['Temporal CLI', () => (embeddedTemporal ? checkTemporalBinary(env) : [])],
    ['Temporal', () => checkTemporal(env, home)],
    ['Postgres binaries', () => (embeddedPostgres ? checkPostgresBinaries() : [])],
    ['Postgres', () => checkPostgres(env, home)],
    ['Model endpoint', () => checkModel(env)],
  ];
  const found = await Promise.all(looks.map(async ([name, look]) => guarded(name, look, env)));
  return found.flat();
}

/** A look that breaks is itself a finding; the others still count. */
async function guarded(
  name: string,
  look: () => Check | Check[] | Promise<Check | Check[]>,
  env: Env,
): Promise<Check[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof UserError ? error.hint : null;
    const secrets = [env['OPENAI_API_KEY'], env['TEMPORAL_API_KEY']];
    return [fail(name, redact(message, secrets), hint ?? 'Mend what it says and look again.')];
  }
}
