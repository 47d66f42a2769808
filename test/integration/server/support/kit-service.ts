import type { Artifact, Part } from '@a2a-js/sdk';
import { UserError } from '../../../../src/core/errors.ts';
import { newEvaluation } from '../../../../src/db/new-evaluation.ts';
import { loadSuite } from '../../../../src/datasets/load-suite.ts';
import { artifactOf, dataPart, textPart } from '../../../../src/server/a2a/parts.ts';
import type { Served } from '../../../../src/server/a2a/served.ts';
import { createSuiteService } from '../../../../src/server/a2a/suite-service.ts';
import type { ServerRig } from './server-rig.ts';

const FILE: Part = {
  content: { $case: 'raw', value: Buffer.from('file content') },
  metadata: undefined,
  filename: 'output.txt',
  mediaType: 'text/plain',
};
const FILE_URL: Part = { ...FILE, content: { $case: 'url', value: 'https://example.com/output.txt' } };

/** What the conformance kit asks of the agent it tests: it says in the message id what is to happen. */
const ARTIFACTS: Record<string, Artifact> = {
  'artifact-text': artifactOf('text', '', [textPart('Generated text content')]),
  'artifact-file-url': artifactOf('file', '', [FILE_URL]),
  'artifact-file': artifactOf('file', '', [FILE]),
  'artifact-data': artifactOf('data', '', [dataPart({ key: 'value', count: 42 })]),
  'stream-artifact-text': artifactOf('text', '', [textPart('Streamed text content')]),
  'stream-artifact-file': artifactOf('file', '', [FILE]),
  'stream-001': artifactOf('text', '', [textPart('Stream hello from TCK')]),
  'stream-003': artifactOf('text', '', [textPart('Stream task lifecycle')]),
  'stream-ordering': artifactOf('text', '', [textPart('Ordered output')]),
};

/**
 * A suite served in the way the kit wants it: everything but what a message leads to is the real service.
 * @param options.waits the kit for 0.3 wants tasks that have not ended when it comes back to them
 */
export async function createKitService(
  rig: ServerRig,
  file: string,
  options: { waits?: boolean } = {},
): Promise<Served> {
  const suites = await createSuiteService({ context: rig.context, db: rig.session.db, files: [file] });
  return {
    ...suites,
    async plan({ message }) {
      await suites.plan({ message, task: null, context: [] });
      if (options.waits === true || message.messageId.includes('input-required'))
        return { kind: 'ask', question: 'What is missing?' };
      if (message.messageId.includes('message-response')) return { kind: 'reply', text: 'Direct message response' };
      if (message.messageId.includes('reject-task')) throw new UserError('rejected');
      const kit = Object.keys(ARTIFACTS).find((name) => message.messageId.includes(name)) ?? 'none';
      const loaded = await loadSuite(file, { env: rig.context.env, cwd: rig.folder });
      const wanted = newEvaluation(loaded, { env: rig.context.env, now: new Date(), labels: { kit } });
      return { kind: 'start', wanted };
    },
    async end(row) {
      const artifact = ARTIFACTS[row.labels['kit'] ?? ''];
      const end = await suites.end(row);
      return { ...end, text: 'Hello from TCK', artifacts: artifact === undefined ? [] : [artifact] };
    },
  };
}
