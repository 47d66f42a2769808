/** Shapes of secrets an agent may have leaked: evidence is stored whole, but reports travel further than the database. */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];

/** Longest reason a report carries, in UTF-16 units; the rest is in the database. */
const REASON_LIMIT = 2000;

/**
 * Makes text from agents, judges and datasets safe to print: secrets masked, control and direction characters (which
 * could move the cursor or reorder a line) replaced by spaces, white space folded, cut at {@link REASON_LIMIT}.
 */
export function cleanText(text: string): string {
  const printable = cleanWhole(text);
  // A surrogate left alone by the cut is no character.
  return printable.length > REASON_LIMIT ? `${lone(printable.slice(0, REASON_LIMIT))}…` : printable;
}

/** As {@link cleanText}, however long. */
export function cleanWhole(text: string): string {
  const printable = maskSecrets(text)
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return lone(printable);
}

/** Lines of a message as they are, but for what could move the cursor or reorder a line: replaced by spaces. */
export function cleanLines(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ');
}

/** The text with whatever looks like a secret masked, and nothing else changed. */
export function maskSecrets(text: string): string {
  let masked = text;
  for (const pattern of SECRETS) masked = masked.replace(pattern, (found) => `${found.slice(0, 4)}***`);
  return masked;
}

function lone(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}
