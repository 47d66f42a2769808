import { expect, test } from 'vitest';
import { configuredSecrets, maskError } from '../../../src/activities/configured-secrets.ts';
import { a2aToolSchema } from '../../../src/core/a2a-config.schema.ts';
import { commandAgentSchema } from '../../../src/core/agent-config.schema.ts';
import { ModelError } from '../../../src/core/errors.ts';
import { suiteOf } from '../agents/trial-fixture.ts';

test('D9: every variable a suite hands on is a secret: keys, tokens, what programs and MCP servers get', () => {
  const suite = suiteOf({
    agent: commandAgentSchema.parse({ type: 'command', command: ['x'], pass_env: ['PASSED'] }),
    tools: [{ name: 't', a2a: a2aToolSchema.parse({ card_url: 'https://a.example', auth_env: 'REMOTE' }) }],
    mcp: [
      { name: 'm', command: 'x', env: ['SERVER'], mode: 'live', timeout_ms: 1 },
      { name: 'n', url: 'https://n.example', token_env: 'TOKEN', mode: 'live', timeout_ms: 1 },
    ],
  });
  const env = { PASSED: '1', REMOTE: '2', SERVER: '3', TOKEN: '4', OPENAI_API_KEY: '5', OTHER: '6' };
  expect(configuredSecrets(suite, env).sort()).toEqual(['1', '2', '3', '4', '5']);
});

test('D9: messages of errors and of their causes are masked, the error stays what it is', () => {
  const secret = 'the-secret-canary-01';
  const cause = new Error(`the child printed ${secret}`);
  const error = new ModelError('server_error', `failed: ${secret}`, { cause });
  maskError(error, [secret]);
  expect(error).toMatchObject({ kind: 'server_error', message: 'failed: [api key withheld by Assay]' });
  expect(cause.message).not.toContain(secret);
  maskError('no error', [secret]);
});
