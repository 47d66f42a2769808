import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { MOST_TRIALS } from '../../core/case.schema.ts';
import type { JsonObject } from '../../core/json.ts';
import { strictObject } from '../../core/strict-object.schema.ts';
import type { Content } from './parts.ts';

const text = z.string().min(1, { error: 'must not be empty' });

const schema = strictObject({
  suite: text.exactOptional(),
  trials: z.int().min(1).max(MOST_TRIALS).exactOptional(),
  concurrency: z.int().min(1).exactOptional(),
  filter: z.union([text.transform((one) => [one]), z.array(text)]).exactOptional(),
  limit: z.int().min(1).exactOptional(),
  labels: z.record(text, z.string()).exactOptional(),
  budget_usd: z.number().positive().exactOptional(),
  baseline: text.exactOptional(),
});

/** What a message asks for: the options of `assay run`, by their names in data parts. */
export type SuiteRequest = z.infer<typeof schema>;

/**
 * Reads what the messages of a task ask for; later ones win. A suite is named by the key `suite`, or by a text in which
 * the name of exactly one stands.
 * @param contents of the messages, oldest first
 * @throws RequestMalformedError that names each wrong key
 */
export function readSuiteRequest(contents: readonly Content[], suites: readonly string[]): SuiteRequest {
  let request: SuiteRequest = {};
  for (const { text, data } of contents) {
    const named = suites.filter((name) => mentions(text, name));
    const [only] = named;
    if (only !== undefined && named.length === 1) request = { ...request, suite: only };
    for (const part of data) request = { ...request, ...parsed(part) };
  }
  return request;
}

function parsed(part: JsonObject): SuiteRequest {
  const result = schema.safeParse(part);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) =>
    issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`,
  );
  throw new RequestMalformedError(`The data part is not understood. ${lines.join('; ')}`);
}

/** True when the name stands in the text as a word of its own. */
function mentions(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = at === 0 ? ' ' : (text[at - 1] ?? ' ');
    const after = text[at + name.length] ?? ' ';
    if (!isWordPart(before) && !isWordPart(after)) return true;
  }
  return false;
}

function isWordPart(character: string): boolean {
  return /[\p{L}\p{N}_-]/u.test(character);
}
