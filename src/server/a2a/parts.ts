import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** What messages to Assay may hold. */
export const INPUT_MODES = ['text/plain', 'application/json'];
export const OUTPUT_MODES = ['text/plain', 'application/json'];

export function textPart(value: string, mediaType = 'text/plain'): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType };
}

export function dataPart(value: Json, mediaType = 'application/json'): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType };
}

export function artifactOf(artifactId: string, description: string, parts: Part[]): Artifact {
  return { artifactId, name: artifactId, description, parts, metadata: undefined, extensions: [] };
}

/** A message of ours in a task. @param messageId unique, and the same whenever the same is said */
export function agentMessage(place: { taskId: string; contextId: string }, messageId: string, text: string): Message {
  return {
    ...place,
    messageId,
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** The texts of a message and the objects of its data parts. */
export interface Content {
  text: string;
  data: JsonObject[];
}

/**
 * @throws ContentTypeNotSupportedError for files and other media types
 * @throws RequestMalformedError for a message without parts, or with a data part that is no object
 */
export function contentOf(message: Message): Content {
  if (message.parts.length === 0) throw new RequestMalformedError('message.parts is empty.');
  const texts: string[] = [];
  const data: JsonObject[] = [];
  for (const { content, mediaType } of message.parts) {
    if (content === undefined) throw new RequestMalformedError('a part holds neither text nor data.');
    if (content.$case === 'raw' || content.$case === 'url' || !isSupported(mediaType)) {
      const isFile = content.$case === 'raw' || content.$case === 'url';
      const what = isFile ? `A file${mediaType === '' ? '' : ` (${mediaType})`}` : mediaType;
      throw new ContentTypeNotSupportedError(`${what} is not supported; supported are ${INPUT_MODES.join(', ')}.`);
    }
    if (content.$case === 'text') texts.push(content.value);
    else if (isJsonObject(content.value as Json)) data.push(content.value as JsonObject);
    else throw new RequestMalformedError('a data part must hold an object.');
  }
  return { text: texts.join('\n'), data };
}

/** Texts are texts, whatever their kind; data is JSON. */
function isSupported(mediaType: string): boolean {
  return mediaType === '' || /^text\/|^application\/([\w.+-]+\+)?json\b/.test(mediaType);
}
