/** Environment variables, passed in by the composition root; only config.ts reads the real ones. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The folders of PATH as one text. Windows calls it `Path`, and a copy of its environment tells upper from lower case. */
export function searchPath(env: Env): string | undefined {
  return env['PATH'] ?? env['Path'];
}
