import { createHash } from 'node:crypto';
import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { AgentArtifact, ArtifactPart } from '../../core/trajectory.ts';
import type { TaskRecord } from './task-record.ts';

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

/** The answer: text of the artifacts, else of the last status or message; data alone is an answer as JSON. */
export function answerOf(record: TaskRecord): string | null {
  const artifacts = [...record.artifacts.values()];
  const said = record.reply ?? record.statusMessage;
  const texts = artifacts.map((artifact) => textOf(artifact.parts)).filter((text) => text !== null);
  if (texts.length > 0) return texts.join('\n\n');
  const text = said === null ? null : textOf(said.parts);
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

/**
 * What the agent reports of its own work, of all its reports together; later ones replace earlier ones key by key.
 * @param taken reports of earlier exchanges, which artifacts of the task bring again; those of this one are added
 */
export function reportOf(record: TaskRecord, taken: Set<string> = new Set()): JsonObject {
  const parts = [
    ...record.messages.flatMap((message) => message.parts),
    ...[...record.artifacts.values()].flatMap((artifact) => artifact.parts),
  ];
  const reports = parts.flatMap(({ content }) => {
    const report = content?.$case === 'data' ? reportIn(content.value as Json) : null;
    if (report === null) return [];
    const text = JSON.stringify(report);
    if (taken.has(text)) return [];
    taken.add(text);
    return [report];
  });
  return Object.fromEntries(reports.flatMap((report) => Object.entries(report)));
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
