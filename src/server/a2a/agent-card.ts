import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import { INPUT_MODES, OUTPUT_MODES } from './parts.ts';
import type { Served } from './served.ts';

/** Paths of the two transports. */
export const JSON_RPC_PATH = '/a2a/jsonrpc';
export const REST_PATH = '/a2a/rest';

/** The card of what is served. @param baseUrl address clients reach the server at, without a slash at its end */
export function agentCardOf(
  served: Served,
  options: { baseUrl: string; version: string; secured: boolean },
): AgentCard {
  const { baseUrl, version, secured } = options;
  const at = (path: string, protocolBinding: string, protocolVersion: string): AgentInterface => ({
    url: `${baseUrl}${path}`,
    protocolBinding,
    protocolVersion,
    tenant: '',
  });
  const bearer = { schemes: { bearer: { list: [] } } };
  return {
    name: served.name,
    description: served.description,
    version,
    provider: undefined,
    supportedInterfaces: [
      at(JSON_RPC_PATH, 'JSONRPC', '1.0'),
      at(REST_PATH, 'HTTP+JSON', '1.0'),
      at(JSON_RPC_PATH, 'JSONRPC', '0.3'),
      at(REST_PATH, 'HTTP+JSON', '0.3'),
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: false,
      extensions: served.extensions.map((one) => ({ ...one, required: false, params: undefined })),
    },
    securitySchemes: secured
      ? {
          bearer: {
            scheme: {
              $case: 'httpAuthSecurityScheme',
              value: { description: 'Token of the server', scheme: 'Bearer', bearerFormat: '' },
            },
          },
        }
      : {},
    securityRequirements: secured ? [bearer] : [],
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: served.skills,
    signatures: [],
  };
}
