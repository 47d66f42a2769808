import type { ModelError } from '../../core/errors.ts';

type OutputLimitField = 'max_completion_tokens' | 'max_tokens';

/** How an endpoint says that it does not take a parameter; a value that is too large is another complaint. */
const REFUSED =
  /unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not (permitted|allowed)|extra (inputs|fields)|instead/i;

/** Which field holds the output limit of a request, by model: what an endpoint refused once is not tried again. */
export interface OutputLimitFields {
  of(model: string): OutputLimitField;
  /** The other field, when the failure is the endpoint's refusal of `sent`; else null. */
  insteadOf(sent: OutputLimitField, error: ModelError): OutputLimitField | null;
  /** The endpoint took this field. */
  took(model: string, field: OutputLimitField): void;
}

/**
 * OpenAI's own models refuse `max_tokens`; many compatible servers know nothing else. The host tells which is tried first,
 * and behind a proxy the refusal itself tells.
 */
export function outputLimitFields(baseUrl: string): OutputLimitFields {
  const known = new Map<string, OutputLimitField>();
  const openai = /(^|\.)openai\.(azure\.)?com$/.test(new URL(baseUrl).hostname);
  const first: OutputLimitField = openai ? 'max_completion_tokens' : 'max_tokens';
  return {
    of: (model) => known.get(model) ?? first,
    insteadOf(sent, { kind, message }) {
      if (kind !== 'bad_request' || !new RegExp(`\\b${sent}\\b`).test(message) || !REFUSED.test(message)) return null;
      return sent === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    },
    took: (model, field) => void known.set(model, field),
  };
}
