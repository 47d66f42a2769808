import type { ModelReply } from '../core/model.ts';
import { copiedFrom } from './copied-reply.ts';
import type { ShownData } from './copied-reply.ts';
import type { DimensionSpec, Reading } from './dimensions/dimension.ts';
import { FieldError, Fields } from './fields.ts';
import { isHtml, parseReply } from './parse.ts';
import type { UnscoredCause } from './verdict.ts';

/** Why a reply gives no verdict, and whether asking once more can help. */
export interface Fault {
  cause: UnscoredCause;
  /** A clause that fits after "could not be used:". */
  error: string;
  repairable: boolean;
}

export type ReplyReading = { ok: true; reading: Reading } | { ok: false; fault: Fault };

/**
 * Reads one reply of the judge. Never throws on what the judge wrote; never a verdict that is not written in full.
 * @param shown what the judge was shown as data: a reply that is a copy of it is no verdict
 */
export function readReply(reply: ModelReply, dimension: Pick<DimensionSpec, 'read'>, shown: ShownData): ReplyReading {
  if (reply.finish_reason === 'content_filter') {
    return fault('judge_content_filter', 'the content filter of the endpoint withheld it', false);
  }
  if (reply.refusal !== null) return fault('judge_refused', `it is a refusal (${excerpt(reply.refusal)})`, true);
  const text = reply.content ?? '';
  if (isHtml(text)) return fault('judge_html_body', `it is a web page (${excerpt(text)})`, false);
  // Checked before the text: even a whole object may have been followed by another one that was cut off.
  if (reply.finish_reason === 'length') return fault('judge_truncated', 'it was cut off at the token limit', true);
  if (text.trim() === '') return fault('judge_empty', 'it is empty', true);
  const parsed = parseReply(text);
  if (!parsed.ok) return fault('judge_unparsable', parsed.error, true);
  const copied = copiedFrom(shown, text);
  if (copied !== null) return fault('judge_unparsable', copied, true);
  try {
    return { ok: true, reading: dimension.read(new Fields(parsed.object)) };
  } catch (error) {
    if (error instanceof FieldError) return fault('judge_unparsable', error.message, true);
    throw error;
  }
}

function fault(cause: UnscoredCause, error: string, repairable: boolean): ReplyReading {
  return { ok: false, fault: { cause, error, repairable } };
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}
