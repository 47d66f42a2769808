/** A process that uses the stack of the folder in its argument, as `assay run` does; ends on SIGTERM. */
import { ensureStack } from '../../../src/local/stack.ts';

const home = process.argv[2] ?? '';
const { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN } = process.env;
const stack = await ensureStack({
  home,
  log: (line) => console.log(JSON.stringify({ log: line })),
  env: { PATH, HOME, XDG_CACHE_HOME, ASSAY_TEMPORAL_BIN },
});
const alive = setInterval(() => undefined, 60_000);
process.once('SIGTERM', () => {
  clearInterval(alive);
  stack.release().then(
    () => console.log(JSON.stringify({ released: true })),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
});
console.log(JSON.stringify({ ready: { temporalAddress: stack.temporalAddress, databaseUrl: stack.databaseUrl } }));
