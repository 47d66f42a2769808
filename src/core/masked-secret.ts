/** Stands where a secret of Assay's own configuration stood. Nothing else writes it: seen in what an agent says, the agent gave a secret away. */
export const MASKED_SECRET = '[api key withheld by Assay]';

/** Shorter values are words such as `none` or `ollama`, which an answer may well hold. */
export const SHORTEST_SECRET = 12;

/**
 * A value without the given secrets in any of its texts: what agents say is stored, and what Assay was trusted with must not
 * be. The value itself when it holds none of them.
 */
export function maskSecrets<T extends object>(value: T, secrets: readonly string[]): T {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  if (known.length === 0) return value;
  let text = JSON.stringify(value);
  let found = false;
  for (const secret of known) {
    const written = JSON.stringify(secret).slice(1, -1);
    // Once more escaped: arguments of a tool call are JSON inside a text.
    const inner = JSON.stringify(written).slice(1, -1);
    if (!text.includes(written) && !text.includes(inner)) continue;
    found = true;
    text = text.replaceAll(inner, MASKED_SECRET).replaceAll(written, MASKED_SECRET);
  }
  return found ? (JSON.parse(text) as T) : value;
}
