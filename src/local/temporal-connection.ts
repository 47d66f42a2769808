import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import type { Env } from './env.ts';

/** How to reach Temporal: address, TLS and API key, and the namespace. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  /** Accepted by the client's `Connection.connect` and the worker's `NativeConnection.connect`. */
  connectionOptions: ClientConnectConfig['connectionOptions'];
}

/**
 * Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, TEMPORAL_PROFILE and the Temporal
 * configuration file, as every Temporal client does (https://docs.temporal.io/develop/environment-configuration).
 * @param address overrides the configured address; with it (an embedded server) nothing else is read.
 */
export function temporalTarget(env: Env, address?: string): TemporalTarget {
  if (address !== undefined) {
    return { address, namespace: 'default', connectionOptions: { address } };
  }
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) overrideEnvVars[name] = value;
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const configured = connectionOptions.address ?? 'localhost:7233';
  return { address: configured, namespace: namespace ?? 'default', connectionOptions };
}
