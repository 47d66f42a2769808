import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Folder of what Assay fetched or built and can fetch or build again: `$XDG_CACHE_HOME/assay`, default `~/.cache/assay`.
 * An empty or relative XDG_CACHE_HOME is ignored, as the XDG base directory specification asks.
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const named = (env['XDG_CACHE_HOME'] ?? '').trim();
  return join(isAbsolute(named) ? named : join(env['HOME'] ?? homedir(), '.cache'), 'assay');
}
