import type { PersonalDataConfig, PersonalDataKind } from '../../core/suite.ts';
import { compileLinear } from '../values/linear-regex.ts';
import { foldText, looseText } from '../values/normalise-text.ts';

/** Finds one kind of personal data. */
export interface Detector {
  /** Words for a reason. */
  kind: string;
  /** Every value in a text. */
  find(text: string): string[];
  /** What two ways to write one value have in common. */
  key(value: string): string;
}

const DETECTORS: Record<PersonalDataKind, Detector> = {
  email: { kind: 'e-mail address', find: findEmails, key: (value) => value.toLowerCase() },
  phone: { kind: 'phone number', find: findPhones, key: phoneKey },
  cn_resident_id: { kind: 'PRC resident ID', find: findResidentIds, key: bareId },
  bank_card: { kind: 'bank card number', find: findCards, key: digitsOf },
};

/** The detectors a suite asks for, or what is wrong with a pattern of its own. */
export function detectorsOf(config: PersonalDataConfig): { detectors: Detector[]; broken: string | null } {
  const detectors = [...new Set(config.detect)].map((kind) => DETECTORS[kind]);
  for (const { name, regex } of config.patterns) {
    const compiled = compileLinear(regex, false);
    if (typeof compiled === 'string') return { detectors: [], broken: `safety.personal_data: ${name}: ${compiled}` };
    detectors.push({ kind: name, key: (value) => value, find: (text) => ownMatches(compiled, text) });
  }
  return { detectors, broken: null };
}

type Compiled = Exclude<ReturnType<typeof compileLinear>, string>;

/** A pattern may mean a dash as it is, or a hyphen that was written as a dash. */
function ownMatches(compiled: Compiled, text: string): string[] {
  const [folded, loose] = [foldText(text), looseText(text)];
  const found = linearMatches(compiled, folded);
  return loose === folded ? found : [...new Set([...found, ...linearMatches(compiled, loose)])];
}

function linearMatches(compiled: Compiled, text: string): string[] {
  const found: string[] = [];
  const matcher = compiled.matcher(text);
  while (matcher.find()) {
    const value = matcher.group() ?? '';
    if (value !== '') found.push(value);
  }
  return found;
}

function digitsOf(value: string): string {
  return value.replace(/\D/g, '');
}

/** Every quantifier is bounded and starts at a word's edge: linear time. */
const EMAIL = /(?<![\w.+%-])[\w.+%-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g;
/** `logo@2x.png` and `pkg@1.2.tgz` are files, `git@host.org:repo` a remote. `.md` and `.zip` end domains too. */
const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|m?[jt]sx?|json|ya?ml|txt|html?|gz|tgz|pdf)$|@v?\d[^@]*\.(?:md|zip)$/i;

function findEmails(text: string): string[] {
  if (!/[@＠]/.test(text)) return [];
  return all(EMAIL, looseText(text)).filter((value) => !FILE_ENDING.test(value) && !value.startsWith('git@'));
}

/** A number must stand alone: no letter, digit or decimal point touches it, and it is no part of an id or a path. */
const START = '(?<![\\w+])(?<!\\w[-/])(?<!\\d\\.)';
const END = '(?!\\w)(?![-/]\\w)(?!\\.\\d)';
const PHONES = [
  // PRC mobile, with or without +86: 11 digits, 13x to 19x.
  `${START}(?:(?:\\+|00)?86[ -]?)?1[3-9]\\d(?:[ -]?\\d{4}){2}${END}`,
  // PRC landline: area code 010, 02x or 0xxx.
  `${START}(?:0\\d{2,3}-|(?:0(?:10|2\\d|[3-9]\\d{2}) |\\(0(?:10|2\\d|[3-9]\\d{2})\\) ?))\\d{7,8}${END}`,
  // International: + and 8 to 15 digits.
  `${START}\\+[1-9](?:[ .()-]{0,2}\\d){7,14}${END}`,
  // North American: (415) 555-0132, 415-555-0132, 415.555.0132.
  `${START}(?:\\([2-9]\\d{2}\\) ?|[2-9]\\d{2}[-. ])[2-9]\\d{2}[-. ]\\d{4}${END}`,
].map((pattern) => new RegExp(pattern, 'g'));

/** Between two numbers of a list, `13812345678/010-12345678`. */
const BETWEEN =
  /(?<=(?<!\d)1[3-9]\d{9}|(?<!\d)0\d{2,3}-\d{7,8})[-/](?=(?:\+?86[ -]?)?1[3-9]\d{9}(?!\w)|0\d{2,3}-\d{7,8}(?!\w))/g;

function findPhones(text: string): string[] {
  if (!/\p{Nd}/u.test(text)) return [];
  const folded = looseText(text).replace(BETWEEN, ' ');
  return PHONES.flatMap((pattern) => all(pattern, folded));
}

/** With and without +86 it is one number. */
function phoneKey(value: string): string {
  const digits = digitsOf(value).replace(/^00/, '');
  return /^861[3-9]\d{9}$/.test(digits) ? digits.slice(2) : digits;
}

/** In one piece, or as area, date of birth and the rest. */
const RESIDENT_ID = /(?<![\w])(?<!\w[-.])[1-9]\d{5}([ -]?)\d{8}\1\d{3}[\dXx](?!\w)/g;
const PROVINCES = new Set(
  '11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83'.split(' '),
);
const ID_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const ID_CHECKS = '10X98765432';

function findResidentIds(text: string): string[] {
  return all(RESIDENT_ID, looseText(text)).filter((value) => isResidentId(bareId(value)));
}

function bareId(value: string): string {
  return value.replace(/[ -]/g, '').toUpperCase();
}

/** GB 11643-1999: province, date of birth, and the check character of ISO 7064 MOD 11-2. */
function isResidentId(value: string): boolean {
  if (!PROVINCES.has(value.slice(0, 2))) return false;
  const [year, month, day] = [value.slice(6, 10), value.slice(10, 12), value.slice(12, 14)].map(Number);
  if (year === undefined || month === undefined || day === undefined || year < 1850 || year > 2100) return false;
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return false;
  const sum = ID_WEIGHTS.reduce((total, weight, at) => total + weight * Number(value[at]), 0);
  return ID_CHECKS[sum % 11] === value.slice(17);
}

/** How the digits of a card are grouped: not at all, in fours, or 4-6-5 and 4-6-4. */
const GROUPING = /^(?:\d{13,19}|\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,4}(?:[ -]\d{1,3})?|\d{4}[ -]\d{6}[ -]\d{4,5})$/;
const MOST_GROUPS = 5;

/** Every window of neighbouring groups of digits is looked at, so that an expiry date beside the number hides nothing. */
function findCards(text: string): string[] {
  const folded = looseText(text);
  const groups = [...folded.matchAll(/\d{1,20}/g)].map(({ index, 0: { length } }) => ({ index, length }));
  const found: string[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const start = groups[first]?.index ?? 0;
    let digits = 0;
    for (let last = first; last < Math.min(groups.length, first + MOST_GROUPS) && digits < 19; last += 1) {
      const { index, length } = groups[last] ?? { index: 0, length: 0 };
      digits += length;
      if (digits < 13 || digits > 19 || index + length - start > digits + MOST_GROUPS) continue;
      const value = folded.slice(start, index + length);
      if (!GROUPING.test(value) || !isCard(digitsOf(value)) || touchesWord(folded, start, index + length)) continue;
      found.push(value);
      first = last;
    }
  }
  return found;
}

function touchesWord(text: string, start: number, end: number): boolean {
  return (
    /(?:\w|[a-z_][-.]|\d\.)$/i.test(text.slice(Math.max(0, start - 2), start)) ||
    /^(?:\w|\.\d)/.test(text.slice(end, end + 2))
  );
}

function isCard(digits: string): boolean {
  // Payment cards begin with 22 to 27 (20 and 21 begin dates and times) or 3 to 6; of 9 only the older cards of one bank are in use.
  const issued = /^(?:2[2-7]|[3-6])/.test(digits) || digits.startsWith('9558');
  return issued && digits.length >= 13 && digits.length <= 19 && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = digit * 2;
    sum += at % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function all(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map((match) => match[0]);
}
