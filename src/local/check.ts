/** One line of `assay doctor`. Details never hold a secret. */
export interface Check {
  name: string;
  /** `warn`: works, or is not needed by every run; `fail`: runs will not work. */
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** How to mend it; null when there is nothing to mend. */
  hint: string | null;
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail, hint: null };
}

export function warn(name: string, detail: string, hint: string): Check {
  return { name, status: 'warn', detail, hint };
}

export function fail(name: string, detail: string, hint: string): Check {
  return { name, status: 'fail', detail, hint };
}

/** Secrets an error text may quote: the password of a database address and the values given. */
export function redact(text: string, secrets: readonly (string | undefined)[]): string {
  let redacted = text.replace(/(\w+:\/\/[^:@/\s]+:)[^@/\s]+@/g, '$1***@');
  for (const secret of secrets)
    if (secret !== undefined && secret !== '') redacted = redacted.replaceAll(secret, '***');
  return redacted;
}
