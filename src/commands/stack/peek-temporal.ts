import type { Client } from '@temporalio/client';
import type { Config } from '../../config.ts';

const PATIENCE_MS = 3_000;

/**
 * Looks at Temporal without starting one: the configured server, or the embedded one when it is running. null when
 * there is none or it does not answer within 3 s; what Postgres says is then all there is to know.
 */
export async function peekTemporal<T>(config: Config, look: (client: Client) => Promise<T>): Promise<T | null> {
  const [{ Client, Connection, ServiceError }, { temporalTarget }] = await Promise.all([
    import('@temporalio/client'),
    import('../../local/temporal-connection.ts'),
  ]);
  const address = await embeddedAddress(config);
  if (config.temporalAddress === undefined && address === null) return null;
  const target = temporalTarget(config.env, config.temporalAddress === undefined ? (address ?? undefined) : undefined);
  const connection = await Connection.connect({ ...target.connectionOptions, connectTimeout: PATIENCE_MS }).catch(
    () => null,
  );
  if (connection === null) return null;
  try {
    return await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      look(new Client({ connection, namespace: target.namespace })),
    );
  } catch (error) {
    // It went away while we looked.
    if (error instanceof ServiceError) return null;
    throw error;
  } finally {
    await connection.close();
  }
}

async function embeddedAddress(config: Config): Promise<string | null> {
  const { recordedStack } = await import('../../local/stack.ts');
  const { temporal } = recordedStack(config.home);
  return temporal === null || temporal.process === null ? null : `127.0.0.1:${temporal.port}`;
}
