/** Environment variables, passed in by the composition root; only config.ts reads the real ones. */
export type Env = Readonly<Record<string, string | undefined>>;
