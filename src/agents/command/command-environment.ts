import { MissingVariableError } from '../../core/errors.ts';

/** What a program needs of its surroundings to start at all; nothing here can be a secret. */
const PASSED: readonly string[] = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'PATHEXT',
];

/** Shorter values are words such as `true`, which any output may hold. */
const SHORTEST_SECRET = 12;

/**
 * The whole environment of a command: the allow list, the variables the suite passes on, and those it sets.
 * @param key of the suite that names the variables passed on, for messages
 * @throws MissingVariableError for one that is not set; an empty one is set
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  config: { env?: Record<string, string>; pass_env?: string[] },
  key: string,
): Record<string, string> {
  const absent = (config.pass_env ?? []).filter((name) => env[name] === undefined && config.env?.[name] === undefined);
  if (absent.length > 0) {
    const are = absent.length === 1 ? 'is' : 'are';
    throw new MissingVariableError(
      `${key} names ${absent.join(', ')}, which ${are} not set`,
      'Leave it out of the list when the program can do without.',
    );
  }
  const result: Record<string, string> = {};
  for (const name of [...PASSED, ...(config.pass_env ?? [])]) {
    const value = env[name];
    if (value !== undefined) result[name] = value;
  }
  return { ...result, ...config.env };
}

/** Values that were passed on by name: they are secrets for all that is known, and must not be stored. */
export function passedSecrets(
  env: Readonly<Record<string, string | undefined>>,
  config: { pass_env?: string[] },
): string[] {
  return (config.pass_env ?? []).flatMap((name) => {
    const value = env[name] ?? '';
    return value.length >= SHORTEST_SECRET ? [value] : [];
  });
}
