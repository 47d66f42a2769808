/** Stands where a secret of Assay's own configuration stood. Nothing else writes it: seen in what an agent says, the agent gave a secret away. */
export const MASKED_SECRET = '[api key withheld by Assay]';

/** Shorter values are words such as `none` or `ollama`, which an answer may well hold. */
export const SHORTEST_SECRET = 12;

/**
 * A value without the given secrets in any of its texts: what agents say is stored, and what Assay was trusted with must not
 * be. So is the first or last half of one, or more: messages are cut. The value itself when it holds none of them.
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
  for (const secret of known) {
    // An escape in it could be cut in two.
    if (JSON.stringify(secret) !== `"${secret}"`) continue;
    const rest = withoutHead(withoutTail(text, secret), secret);
    found ||= rest !== text;
    text = rest;
  }
  return found ? (JSON.parse(text) as T) : value;
}

/** Length from which a part of a secret is one. */
function half(secret: string): number {
  return Math.max(SHORTEST_SECRET, Math.ceil(secret.length / 2));
}

/** Without what begins as the secret, as far as it goes on so. */
function withoutHead(text: string, secret: string): string {
  const head = secret.slice(0, half(secret));
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
  const tail = secret.slice(-half(secret));
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
