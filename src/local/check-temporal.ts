import type { Connection } from '@temporalio/client';
import { fail, ok, redact, warn, type Check } from './check.ts';
import type { Env } from './env.ts';
import { isAlive } from './process-identity.ts';
import { searchAttributeState } from './search-attributes.ts';
import { readStackRecord } from './stack-record.ts';
import { temporalTarget, type TemporalTarget } from './temporal-connection.ts';
import { probeTemporal } from './temporal-server.ts';

/** Reachable, version, namespace, search attributes. An embedded server that is not running is in order. */
export async function checkTemporal(env: Env, home: string): Promise<Check[]> {
  const existing = (env['TEMPORAL_ADDRESS'] ?? '') !== '';
  const target = existing ? temporalTarget(env) : embeddedTarget(env, home);
  if (target === null) return [ok('Temporal', 'embedded; not running, starts with the next run or `assay up`')];
  const problem = await probeTemporal(target.connectionOptions, target.namespace);
  if (problem !== null) {
    const hint = existing
      ? 'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TLS and API key; or unset TEMPORAL_ADDRESS to use the embedded Temporal.'
      : `See the log in ${home}/logs; the next run or \`assay up\` starts it again.`;
    const detail = `${target.address}, namespace ${target.namespace}: ${problem}`;
    return [fail('Temporal', redact(detail, [env['TEMPORAL_API_KEY']]), hint)];
  }
  const { Connection: Connector } = await import('@temporalio/client');
  const connection = await Connector.connect(target.connectionOptions);
  try {
    const info = await connection.workflowService.getSystemInfo({});
    const place = existing ? target.address : `embedded at ${target.address}`;
    const detail = `${place}, server ${info.serverVersion}, namespace ${target.namespace}`;
    return [ok('Temporal', detail), await checkSearchAttributes(connection, target.namespace)];
  } finally {
    await connection.close();
  }
}

function embeddedTarget(env: Env, home: string): TemporalTarget | null {
  const recorded = readStackRecord(home, () => undefined).temporal;
  if (!recorded?.process || !isAlive(recorded.process)) return null;
  return temporalTarget(env, `127.0.0.1:${recorded.port}`);
}

async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Check> {
  const name = 'Search attributes';
  const state = await searchAttributeState(connection, namespace);
  if (state.wrongType.length > 0) {
    const wrong = state.wrongType.map((attribute) => `${attribute.name} is ${attribute.type}`).join(', ');
    const hint = 'Remove them (temporal operator search-attribute remove) or use another namespace.';
    return fail(name, `${wrong}; Keyword is needed`, hint);
  }
  if (state.missing.length === 0) return ok(name, 'present');
  return warn(name, `missing: ${state.missing.join(', ')}`, 'The next run creates them, if this client may.');
}
