import { fail, ok, redact, warn, type Check } from './check.ts';
import type { Env } from './env.ts';

const NAME = 'Model endpoint';
const OFFICIAL = 'https://api.openai.com/v1';

/**
 * Asks the OpenAI-compatible endpoint for its list of models (`GET /models`): is it there, is the key accepted?
 * @param timeoutMs bound on the answer; default 5,000.
 */
export async function checkModel(env: Env, timeoutMs = 5000): Promise<Check> {
  const key = env['OPENAI_API_KEY'] ?? '';
  const configured = env['OPENAI_BASE_URL'] ?? '';
  if (configured === '' && key === '') {
    return warn(
      NAME,
      'none configured',
      'Set OPENAI_BASE_URL and OPENAI_API_KEY, or use `assay mock-model` to try Assay offline.',
    );
  }
  const base = (configured === '' ? OFFICIAL : configured).replace(/\/+$/, '');
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    return fail(
      NAME,
      'OPENAI_BASE_URL is not an http(s) address',
      'Expected something like https://api.openai.com/v1.',
    );
  }
  const place = redact(base, [key]);
  let response: Response;
  try {
    response = await fetch(`${base}/models`, {
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
  } catch (error) {
    return fail(NAME, `${place}: ${redact(reason(error), [key])}`, 'Check OPENAI_BASE_URL and the network.');
  }
  return judge(place, response.status, key !== '');
}

function judge(place: string, status: number, hasKey: boolean): Check {
  if (status >= 200 && status < 300) return ok(NAME, `${place} answers${hasKey ? ', key accepted' : ''}`);
  if (status === 401 || status === 403) {
    const detail = hasKey ? `${place} refuses the key (HTTP ${status})` : `${place} wants a key (HTTP ${status})`;
    return fail(NAME, detail, 'Set OPENAI_API_KEY to a valid key for this endpoint.');
  }
  if (status === 404 || status === 405) {
    return warn(
      NAME,
      `${place} answers, but lists no models (HTTP ${status})`,
      'Fine for many servers; if calls fail, check that OPENAI_BASE_URL ends in /v1.',
    );
  }
  if (status === 429) return warn(NAME, `${place} is there, but limits us now (HTTP 429)`, 'Wait, or check the quota.');
  return fail(NAME, `${place} answers with HTTP ${status}`, 'Check OPENAI_BASE_URL, or the state of the service.');
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  // fetch says only "fetch failed"; the cause names the reason.
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
