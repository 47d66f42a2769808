/** What a program needs to run, on any system. A scorer is pure: keys and settings are none of its business. */
const NEEDED = ['PATH', 'Path', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'SystemRoot', 'SYSTEMROOT'];

/** The environment of scorers of the user's own. */
export function scorerEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    NEEDED.flatMap((name): [string, string][] => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
