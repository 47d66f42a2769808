import { isLoopbackHost } from '../../agents/guarded-http/addresses.ts';
import { UserError } from '../../core/errors.ts';
import type { ServeOptions } from '../../server/serve.ts';

/** Flags of `assay serve` that decide who may reach it and how. */
interface ReachFlags {
  host: string;
  port: number;
  publicUrl?: string;
  rateLimit: number;
  maxTasks: number;
  allowPrivateWebhooks?: boolean;
  card: '0.3' | '1.0';
  worker: boolean;
}

const SHORTEST_TOKEN = 16;

/**
 * @param token of ASSAY_SERVE_TOKEN; null: none
 * @throws UserError for an address that others can reach without a token, or a token that can be guessed
 */
export function serveOptions(flags: ReachFlags, token: string | null, log: (line: string) => void): ServeOptions {
  if (token === null && !isLoopbackHost(flags.host)) {
    throw new UserError(`--host ${flags.host} can be reached from other machines, and no token is set.`, {
      hint: 'set ASSAY_SERVE_TOKEN to a long random text (`openssl rand -hex 32`), or leave --host out',
    });
  }
  if (token !== null && (token.length < SHORTEST_TOKEN || !/^[\x21-\x7e]+$/.test(token))) {
    throw new UserError(`ASSAY_SERVE_TOKEN must be ${SHORTEST_TOKEN} or more printable ASCII letters without spaces.`, {
      hint: '`openssl rand -hex 32` makes one',
    });
  }
  return {
    host: flags.host,
    port: flags.port,
    publicUrl: flags.publicUrl ?? null,
    token,
    rateLimit: flags.rateLimit,
    maxTasks: flags.maxTasks,
    allowPrivateWebhooks: flags.allowPrivateWebhooks === true,
    cardForm: flags.card,
    ownWorker: flags.worker,
    log,
  };
}
