import { stat } from 'node:fs/promises';
import { HTTP_REQUEST_NAMES } from '../../core/agent-config.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import { templateNames } from '../../core/json-template.ts';
import type { Suite } from '../../core/suite.ts';
import { errorAt, warningAt } from '../readers/source.ts';
import type { Report, SourceValue } from '../readers/source.ts';
import { resolveInside } from '../safe-path.ts';
import type { SuiteFolder } from '../suite-parts.ts';
import { missingScript, outsideWords } from './command-words.ts';

/** What a schema cannot see in an agent: files and folders it names, names in its templates. */
export async function checkAgent(check: {
  suite: Pick<Suite, 'agent'>;
  source: SourceValue;
  folder: SuiteFolder;
  report: Report;
}): Promise<void> {
  const { agent } = check.suite;
  if (agent.type === 'replay') await checkPath(agent.trajectories, 'trajectories', 'file');
  if (agent.type === 'command' && agent.cwd !== undefined) await checkPath(agent.cwd, 'cwd', 'folder');
  if (agent.type === 'command') {
    for (const { at, error } of await outsideWords(agent.command, agent.cwd ?? '.', check.folder)) {
      check.report(errorAt(check.source.place(['agent', 'command', at]), `agent.command: ${error}`));
    }
    await checkScript(agent.command, agent.cwd ?? '.');
  }
  if (agent.type !== 'http') return;
  const fault = (key: string[], message: string): void =>
    check.report(errorAt(check.source.place(['agent', ...key]), `agent.${key.join('.')}: ${message}`));
  for (const name of new Set(templateNames(agent.request ?? null))) {
    if (HTTP_REQUEST_NAMES.includes(name)) continue;
    const known = HTTP_REQUEST_NAMES.join(', ');
    fault(['request'], `unknown name "{{${name}}}"${didYouMean(name, HTTP_REQUEST_NAMES)}; known: ${known}`);
  }
  for (const key of ['url', 'cancel_url'] as const) {
    const address = agent.poll?.[key];
    if (address === undefined) continue;
    if (!/\{\{\s*id\s*\}\}/.test(address)) fault(['poll', key], 'holds no {{id}}: which task is meant?');
    const target = URL.canParse(address, agent.url) ? new URL(address, agent.url) : null;
    // The id comes from the agent, and the secret goes along.
    if (target?.origin !== new URL(agent.url).origin) fault(['poll', key], 'must be on the host of agent.url');
  }

  async function checkScript(command: readonly string[], cwd: string): Promise<void> {
    const missing = await missingScript(command, cwd, check.folder.root);
    if (missing === null) return;
    const said = `there is no file "${missing.word}" in ${cwd === '.' ? "the suite's folder" : `agent.cwd "${cwd}"`}, where the program runs`;
    check.report(warningAt(check.source.place(['agent', 'command', missing.at]), `agent.command: ${said}`));
  }

  async function checkPath(path: string, key: string, wanted: 'file' | 'folder'): Promise<void> {
    const { source, folder, report } = check;
    const place = source.place(['agent', key]);
    const safe = await resolveInside(folder.root, path, folder.allowOutside);
    if (!safe.ok) report(errorAt(place, `agent.${key}: ${safe.error}`));
    else if ((await stat(safe.absolute)).isDirectory() !== (wanted === 'folder')) {
      report(errorAt(place, `agent.${key}: "${path}" is no ${wanted}`));
    }
  }
}
