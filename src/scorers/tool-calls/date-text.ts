/** A moment; `time` is false when the text named a day only. `at` is milliseconds since the epoch (no zone: UTC). */
export interface ParsedDate {
  at: number;
  /** The day as written, in the text's own zone: its midnight as if that zone were UTC. */
  day: number;
  time: boolean;
}

const DAY = 86_400_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LONG_MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const TOKENS = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|mm|ss/g;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/;
const PATTERNS: Readonly<Record<string, string>> = {
  YYYY: '(\\d{4})',
  YY: '(\\d{2})',
  MMMM: '([A-Za-z]{3,9})',
  MMM: '([A-Za-z]{3})',
  MM: '(\\d{2})',
  M: '(\\d{1,2})',
  DD: '(\\d{2})',
  D: '(\\d{1,2})',
  HH: '(\\d{2})',
  H: '(\\d{1,2})',
  mm: '(\\d{2})',
  ss: '(\\d{2})',
};

/** Why a date format cannot be used; null for a good one. A format names a year, a month and a day. */
export function dateFormatProblem(format: string): string | null {
  const tokens = format.match(TOKENS) ?? [];
  const has = (letter: string): boolean => tokens.some((token) => token.startsWith(letter));
  if (format.length <= 60 && has('Y') && has('M') && has('D')) return null;
  return `date format "${format.slice(0, 60)}" wants a year (YYYY, YY), a month (MM, M, MMM, MMMM) and a day (DD, D); also HH, H, mm, ss`;
}

/**
 * Reads a date. `format: null`: ISO 8601 (`2024-05-01`, `2024-05-01T10:00:00Z`); else the format's tokens
 * YYYY YY MMMM MMM MM M DD D HH H mm ss, everything else as it stands. Null when the text is no such date (31 April included).
 */
export function parseDate(text: string, format: string | null): ParsedDate | null {
  return format === null ? parseIso(text) : parseFormatted(text, format);
}

function parseIso(text: string): ParsedDate | null {
  const parts = ISO.exec(text.trim());
  if (parts === null) return null;
  const number = (at: number): number => Number(parts[at] ?? '0');
  const millis = Math.floor(Number(`0.${parts[7] ?? '0'}`) * 1000);
  const day = moment(number(1), number(2), number(3), [number(4), number(5), number(6)]);
  if (day === null) return null;
  const zone = parts[8];
  const offset = zone === undefined || zone === 'Z' ? 0 : zoneMinutes(zone);
  return { at: day + millis - offset * 60_000, day: midnight(day), time: parts[4] !== undefined };
}

function zoneMinutes(zone: string): number {
  const digits = zone.replace(':', '').slice(1);
  return (zone.startsWith('-') ? -1 : 1) * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)));
}

function moment(year: number, month: number, day: number, clock: [number, number, number]): number | null {
  const [hour, minute, second] = clock;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.getTime() : null;
}

function parseFormatted(text: string, format: string): ParsedDate | null {
  const tokens: string[] = [];
  let pattern = '';
  let last = 0;
  for (const token of format.matchAll(TOKENS)) {
    pattern += escaped(format.slice(last, token.index)) + (PATTERNS[token[0]] ?? '');
    last = token.index + token[0].length;
    tokens.push(token[0]);
  }
  const parts = new RegExp(`^${pattern}${escaped(format.slice(last))}$`).exec(text.trim());
  if (parts === null) return null;
  const read = (letter: string): { token: string; text: string } | null => {
    const at = tokens.findIndex((token) => token.startsWith(letter));
    return at < 0 ? null : { token: tokens[at] ?? '', text: parts[at + 1] ?? '' };
  };
  const year = read('Y');
  const clock: [number, number, number] = ['H', 'm', 's'].map((letter) => Number(read(letter)?.text ?? '0')) as [
    number,
    number,
    number,
  ];
  const years = Number(year?.text ?? '0') + (year?.token === 'YY' ? 2000 : 0);
  const at = moment(years, monthNumber(read('M')?.text ?? ''), Number(read('D')?.text ?? '0'), clock);
  return at === null ? null : { at, day: midnight(at), time: tokens.some((token) => token.startsWith('H')) };
}

function monthNumber(text: string): number {
  if (/^\d/.test(text)) return Number(text);
  const name = text.toLowerCase();
  return (name.length === 3 ? MONTHS.indexOf(name) : LONG_MONTHS.indexOf(name)) + 1;
}

function escaped(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

function midnight(at: number): number {
  return Math.floor(at / DAY) * DAY;
}

/** The same day as written, or the same moment where a time is wanted. */
export function sameDate(wanted: ParsedDate, made: ParsedDate): boolean {
  return wanted.time ? made.time && wanted.at === made.at : wanted.day === made.day;
}
