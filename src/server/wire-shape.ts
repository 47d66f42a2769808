import type { Request, RequestHandler } from 'express';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** Deepest nesting of a request: more is no message, and what walks it would run out of stack. */
const MOST_LEVELS = 100;

type Kind = 'text' | 'texts' | 'object' | 'list' | 'number' | 'flag' | 'choice';

const IS: Record<Kind, { test: (value: Json) => boolean; words: string }> = {
  text: { test: (value) => typeof value === 'string', words: 'a text' },
  texts: {
    test: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    words: 'a list of texts',
  },
  object: { test: isJsonObject, words: 'an object' },
  list: { test: (value) => Array.isArray(value) && value.every(isJsonObject), words: 'a list of objects' },
  // Protocol buffers write numbers as texts too, and choices as numbers.
  number: { test: (value) => typeof value === 'number' || typeof value === 'string', words: 'a number' },
  flag: { test: (value) => typeof value === 'boolean', words: 'true or false' },
  choice: { test: (value) => typeof value === 'string' || typeof value === 'number', words: 'a name' },
};

/** What the protocol's keys hold, in every version; one key means the same kind wherever it stands. */
const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    text: 'messageId contextId taskId sessionId id text raw url token scheme credentials mediaType filename pageToken tenant name kind type uri bytes mimeType fileWithUri fileWithBytes statusTimestampAfter lastUpdatedAfter pushNotificationConfigId configId parent',
    texts: 'extensions referenceTaskIds acceptedOutputModes schemes',
    object:
      'message metadata configuration config request pushNotificationConfig taskPushNotificationConfig pushNotification authentication params',
    list: 'parts content',
    number: 'historyLength pageSize pushNotificationConfigPageSize',
    flag: 'blocking returnImmediately includeArtifacts',
    choice: 'role status',
  } satisfies Record<Kind, string>).flatMap(([kind, keys]) => keys.split(' ').map((key) => [key, kind as Kind])),
);

/** Clients put here what they like. */
const FREE: ReadonlySet<string> = new Set(['metadata', 'data']);

/**
 * What of a request is of another kind than the protocol says; null: nothing. The SDK converts before it checks, and
 * answers some of these with an internal error.
 */
export function faultOfShape(params: Json): string | null {
  return faultAt(params, '', 0, false);
}

function faultAt(value: Json, path: string, level: number, free: boolean): string | null {
  if (level > MOST_LEVELS) return `nested deeper than ${MOST_LEVELS} levels`;
  if (Array.isArray(value)) {
    return firstFault(value.entries(), ([index, one]) => faultAt(one, `${path}[${index}]`, level + 1, free));
  }
  if (!isJsonObject(value)) return null;
  // A part of this kind is taken apart before anybody looks whether it holds a file.
  if (!free && (value['kind'] ?? value['type']) === 'file' && !isJsonObject(value['file'] ?? null)) {
    return `${path}.file must be an object`;
  }
  return firstFault(Object.entries(value), ([key, one]) => {
    const name = key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
    const at = path === '' ? name : `${path}.${name}`;
    const kind = free ? undefined : KINDS.get(name);
    // In protocol buffers null is what is not there.
    if (kind !== undefined && one !== null && !IS[kind].test(one)) return `${at} must be ${IS[kind].words}`;
    return faultAt(one, at.slice(0, 200), level + 1, free || FREE.has(name));
  });
}

function firstFault<Item>(items: Iterable<Item>, faultOf: (item: Item) => string | null): string | null {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== null) return fault;
  }
  return null;
}

/** Refuses bodies and queries of a wrong shape. @param refuse answers in the form of the path @param partOf what of a body is checked; default: all */
export function shapeChecked(
  refuse: (req: Request, res: Parameters<RequestHandler>[1], fault: string) => void,
  partOf: (body: JsonObject) => JsonObject = (body) => body,
): RequestHandler {
  return (req, res, next) => {
    const body = req.body as Json | undefined;
    // null is how some clients write an empty request.
    const empty = body === undefined || body === null;
    const twice = Object.entries(req.query).find(([, value]) => typeof value !== 'string');
    const fault =
      twice !== undefined
        ? `${twice[0].slice(0, 100)} must be given once`
        : empty
          ? null
          : isJsonObject(body)
            ? faultOfShape(partOf(body))
            : 'expected an object';
    if (fault === null) next();
    else refuse(req, res, fault);
  };
}
