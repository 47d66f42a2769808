/** Stands where a secret of Assay's own configuration stood. Nothing else writes it: seen in what an agent says, the agent gave a secret away. */
export const MASKED_SECRET = '[api key withheld by Assay]';

/** Shorter values are words such as `none` or `ollama`, which an answer may well hold. */
export const SHORTEST_SECRET = 12;

/**
 * A value without the given secrets in any of its texts and keys: what agents say is stored, and what Assay was trusted
 * with must not be. So is the first or last half of one, or more: messages are cut. The value itself when it holds none
 * of them.
 * @param value JSON data
 */
export function maskSecrets<T extends object>(value: T, secrets: readonly string[]): T {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  if (known.length === 0) return value;
  // Most values hold none, and a search in their JSON is much cheaper than a look at each text.
  const written = JSON.stringify(value);
  const suspect = known.some((secret) =>
    [secret, headOf(secret), tailOf(secret)].some(
      (part) => written.includes(escaped(part)) || written.includes(escaped(escaped(part))),
    ),
  );
  return suspect ? (maskedValue(value, known) as T) : value;
}

function maskedValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return secrets.reduce(maskedText, value);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [secrets.reduce(maskedText, key), maskedValue(one, secrets)]),
  );
}

function maskedText(text: string, secret: string): string {
  // Arguments of a tool call are JSON inside a text: escapes in the secret are written out there.
  const whole = text.replaceAll(escaped(secret), MASKED_SECRET).replaceAll(secret, MASKED_SECRET);
  return withoutHead(withoutTail(whole, secret), secret);
}

/** As it stands inside a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function headOf(secret: string): string {
  return secret.slice(0, half(secret));
}

function tailOf(secret: string): string {
  return secret.slice(-half(secret));
}

/** Length from which a part of a secret is one. */
function half(secret: string): number {
  return Math.max(SHORTEST_SECRET, Math.ceil(secret.length / 2));
}

/** Without what begins as the secret, as far as it goes on so. */
function withoutHead(text: string, secret: string): string {
  const head = headOf(secret);
  let result = '';
  let from = 0;
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, from)) {
    let length = head.length;
    while (length < secret.length && text[at + length] === secret[length]) length += 1;
    result += text.slice(from, at) + MASKED_SECRET;
    from = at + length;
  }
  return result + text.slice(from);
}

/** Without what ends as the secret, as far back as it is so. */
function withoutTail(text: string, secret: string): string {
  const tail = tailOf(secret);
  let result = '';
  let from = 0;
  for (let at = text.indexOf(tail); at >= 0; at = text.indexOf(tail, from)) {
    let start = at;
    const end = at + tail.length;
    while (start > from && end - start < secret.length && text[start - 1] === secret.at(start - 1 - end)) start -= 1;
    result += text.slice(from, start) + MASKED_SECRET;
    from = end;
  }
  return result + text.slice(from);
}
