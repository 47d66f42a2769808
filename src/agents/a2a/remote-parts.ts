import { createHash } from 'node:crypto';
import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { AgentArtifact, ArtifactPart } from '../../core/trajectory.ts';
import { freshArtifacts, type TaskRecord } from './task-record.ts';

/**
 * URI of the A2A extension by which an agent says more than A2A has words for, in data parts of one key each:
 * `{assay_report: {tool_calls, pending_calls, usage, …}}` from the agent, `{assay_case: {tools, documents}}` and
 * `{assay_tool_results: […]}` to it.
 */
export const REPORT_EXTENSION = 'urn:assay:report:v1';

/** Files up to this size are kept whole, larger ones by size and hash. */
const KEPT_FILE_BYTES = 64 * 1024;

/** The text parts, joined by line breaks; null when there is none. */
export function textOf(parts: readonly Part[]): string | null {
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  return texts.length === 0 ? null : texts.join('\n');
}

/**
 * The answer: text of the artifacts, else of the last status or message; data alone is an answer as JSON. Of a task that
 * waits for the user it is the question.
 */
export function answerOf(record: TaskRecord): string | null {
  const artifacts = freshArtifacts(record);
  const said = record.reply ?? record.statusMessage;
  const text = said === null ? null : textOf(said.parts);
  if (text !== null && record.state === TaskState.TASK_STATE_INPUT_REQUIRED) return text;
  const texts = artifacts.map((artifact) => textOf(artifact.parts)).filter((one) => one !== null);
  if (texts.length > 0) return texts.join('\n\n');
  if (text !== null) return text;
  const data = [...artifacts.flatMap((artifact) => artifact.parts), ...(said?.parts ?? [])].flatMap(plainData);
  if (data.length === 0) return null;
  return JSON.stringify(data.length === 1 ? data[0] : data);
}

function plainData(part: Part): Json[] {
  if (part.content?.$case !== 'data') return [];
  const value = part.content.value as Json;
  return reportIn(value) === null ? [value] : [];
}

/** What the agent reports of its own work, of all its reports together; later ones replace earlier ones key by key. */
export function reportOf(record: TaskRecord): JsonObject {
  const reports = reportsIn([
    ...record.messages.flatMap((message) => message.parts),
    ...freshArtifacts(record).flatMap((artifact) => artifact.parts),
  ]);
  return Object.fromEntries(reports.flatMap((report) => Object.entries(report)));
}

function reportsIn(parts: readonly Part[]): JsonObject[] {
  return parts.flatMap(({ content }) => {
    const report = content?.$case === 'data' ? reportIn(content.value as Json) : null;
    return report === null ? [] : [report];
  });
}

function reportIn(value: Json): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const report = value['assay_report'];
  return isJsonObject(report) ? report : null;
}

/** Artifacts as they are recorded. Reports are recorded as what they report. */
export function recordedArtifacts(record: TaskRecord): AgentArtifact[] {
  return [...record.artifacts.values()].flatMap((artifact) => {
    const parts = artifact.parts.flatMap(recordedPart);
    return parts.length === 0 ? [] : [recorded(artifact, parts)];
  });
}

function recorded(artifact: Artifact, parts: ArtifactPart[]): AgentArtifact {
  const { artifactId, name, description } = artifact;
  return {
    id: artifactId,
    name: name === '' ? null : name,
    description: description === '' ? null : description,
    parts,
  };
}

function recordedPart(part: Part): ArtifactPart[] {
  const { content, mediaType } = part;
  switch (content?.$case) {
    case 'text':
      return [{ kind: 'text', text: content.value, media_type: mediaType === '' ? 'text/plain' : mediaType }];
    case 'data': {
      const data = content.value as Json;
      if (reportIn(data) !== null) return [];
      return [{ kind: 'data', data, media_type: mediaType === '' ? 'application/json' : mediaType }];
    }
    case 'url':
      return [{ ...fileFacts(part), url: content.value, bytes: null, sha256: null, base64: null }];
    case 'raw': {
      const bytes = Buffer.from(content.value);
      return [
        {
          ...fileFacts(part),
          url: null,
          bytes: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
          base64: bytes.length <= KEPT_FILE_BYTES ? bytes.toString('base64') : null,
        },
      ];
    }
    case undefined:
      return [];
  }
}

function fileFacts({ filename, mediaType }: Part): { kind: 'file'; filename: string | null; media_type: string } {
  return {
    kind: 'file',
    filename: filename === '' ? null : filename,
    media_type: mediaType === '' ? 'application/octet-stream' : mediaType,
  };
}

/** What the agent said on the way to its answer. */
export function remarksOf(record: TaskRecord): string[] {
  const last = record.reply ?? record.statusMessage;
  return record.messages.filter((message) => message.messageId !== last?.messageId).flatMap(remarkOf);
}

function remarkOf(message: Message): string[] {
  const text = textOf(message.parts);
  return text === null ? [] : [text];
}
