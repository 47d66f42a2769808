import { EXIT, UserError } from '../../core/errors.ts';
import { judgesOf } from '../../core/suite.ts';
import type { NewEvaluation } from '../../db/create-evaluation.ts';
import type { CommandContext } from '../context.ts';

/**
 * Says early that no model can be reached, instead of after the set-up.
 * @throws UserError (exit 4) naming the variables that are not set
 */
export function requireEndpoint(context: CommandContext, wanted: NewEvaluation): void {
  const { agent, judge } = wanted.suite;
  if (wanted.offline) return;
  const needed = [
    // Trajectories that are stored already need no agent.
    ...(agent.type === 'openai' && wanted.sourceId === null ? [agent] : []),
    ...(judge === null ? [] : judgesOf(judge)),
  ];
  const set = (name: string): boolean => (context.env[name] ?? '') !== '';
  const names = needed
    .filter(({ base_url }) => base_url === undefined && !set('OPENAI_BASE_URL'))
    .map(({ api_key_env }) => api_key_env ?? 'OPENAI_API_KEY')
    .filter((name) => !set(name));
  if (names.length === 0) return;
  throw new UserError(`no model endpoint: ${[...new Set(names)].join(' and ')} is not set`, {
    exitCode: EXIT.infrastructure,
    hint: 'set it, or OPENAI_BASE_URL for a local endpoint; a suite with `offline_model:` runs without either',
  });
}
