import { InvalidArgumentError } from 'commander';

/** Parsers of option values. What they throw is printed as `error: option '…' argument 'x' is invalid. …`, exit code 2. */

/** For a repeatable option: the values in their order. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** A whole number of at least `low`, and at most `high` where given. */
export function whole(low: number, high = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < low || value > high) {
      const most = high === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${high}`;
      throw new InvalidArgumentError(`Expected a whole number of at least ${low}${most}.`);
    }
    return value;
  };
}

/** US dollars above 0. */
export function dollars(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('Expected US dollars above 0, for example 2.50.');
  }
  return value;
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `5m`, `1h` or `2d`, as milliseconds. */
export function duration(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  if (!Number.isFinite(ms)) throw new InvalidArgumentError('Expected a duration such as 90s, 5m, 1h or 2d.');
  return ms;
}

/** A time zone of the IANA database, such as Asia/Shanghai. */
export function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone === '' ? 'UTC' : text;
  } catch {
    throw new InvalidArgumentError('Expected a time zone of the IANA database, for example Asia/Shanghai or UTC.');
  }
}

/** Values separated by commas, each one of `known`. */
export function listOf<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const parts = text.split(',').map((part) => part.trim());
    const wrong = parts.filter((part) => !(known as readonly string[]).includes(part));
    if (wrong.length > 0)
      throw new InvalidArgumentError(`Expected one or more of ${known.join(', ')}, separated by commas.`);
    return [...new Set(parts)] as T[];
  };
}

/** What becomes of a start while the evaluation before still runs; Temporal's policies in small letters. */
export const OVERLAPS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all'] as const;
