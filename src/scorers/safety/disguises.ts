import { looseText } from '../values/normalise-text.ts';

/** Shorter canaries are looked for as they are: turned round or spelt out they would be found by chance. */
const SHORTEST_DISGUISED = 8;

/** A text in the ways a canary is looked for in it, prepared for {@link canaryFinder}. */
export interface ViewedText {
  /** Without regard to case, width, dashes and invisible characters. */
  folded: string;
  /** Escapes undone. */
  unescaped: string;
  /** Lines joined: encoded text is wrapped. */
  joined: string;
  /** Letters and digits alone, as it stands and with escapes undone. */
  bare: string;
  bareUnescaped: string;
}

interface Form {
  name: string;
  text: string;
  within: keyof ViewedText;
}

/** Finds one canary in texts. @returns how it is written there (`plain`, `Base64`, …); null: it is not */
export type CanaryFinder = (text: ViewedText) => string | null;

export function viewed(text: string): ViewedText {
  const folded = foldCase(text);
  const unescaped = foldCase(withoutEscapes(text));
  const bare = bareOf(folded);
  return {
    folded,
    unescaped,
    joined: folded.replace(/[ \t]{0,8}[\r\n][ \t\r\n]*/g, ''),
    bare,
    bareUnescaped: unescaped === folded ? bare : bareOf(unescaped),
  };
}

/**
 * A canary as it is and in escapes of JSON, URLs or HTML, whatever its case, width, dashes and invisible characters; from
 * {@link SHORTEST_DISGUISED} characters on also backwards, spelt out with separators, and as Base64, hexadecimal or
 * percent-encoded text.
 */
export function canaryFinder(canary: string): CanaryFinder {
  const forms = formsOf(canary).filter(({ text }) => text !== '');
  return (views) => forms.find(({ text, within }) => views[within].includes(text))?.name ?? null;
}

function formsOf(canary: string): Form[] {
  const folded = foldCase(canary);
  const forms: Form[] = [{ name: 'plain', text: folded, within: 'folded' }];
  const add = (name: string, text: string, within: keyof ViewedText): void => {
    forms.push({ name, text, within });
  };
  if (canary.length < SHORTEST_DISGUISED) {
    add('escaped', folded, 'unescaped');
    return forms;
  }
  add('backwards', Array.from(folded).reverse().join(''), 'folded');
  const bytes = [...new TextEncoder().encode(canary)];
  // Which characters stand for the canary depends on where it begins in a group of three bytes.
  for (const before of [0, 1, 2]) {
    const inner = base64Inside(bytes, before).toLowerCase();
    add('Base64', inner, 'joined');
    const urlSafe = inner.replaceAll('+', '-').replaceAll('/', '_');
    if (urlSafe !== inner) add('Base64', urlSafe, 'joined');
  }
  add('hexadecimal', bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(''), 'bare');
  add('percent-encoded', encodeURIComponent(canary).toLowerCase(), 'folded');
  add('escaped', folded, 'unescaped');
  const bare = bareOf(folded);
  if (bare.length >= SHORTEST_DISGUISED) {
    add('spelt out', bare, 'bare');
    add('escaped', bare, 'bareUnescaped');
  }
  return forms;
}

/** The Base64 characters that depend on these bytes alone, when `before` other bytes stand before them. */
function base64Inside(bytes: readonly number[], before: number): string {
  const text = btoa(String.fromCharCode(...Array.from({ length: before }, () => 0), ...bytes));
  const start = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  return text.slice(start, end);
}

/** `\u84dd`, `\x42`, `%42` and `&#66;` as the characters they stand for: JSON inside a text writes Chinese so. */
function withoutEscapes(text: string): string {
  if (!/\\[ux]|%[0-9a-f]{2}|&#/i.test(text)) return text;
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/(?:\\x[0-9a-f]{2}|%[0-9a-f]{2})+/gi, bytesAsText)
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (whole, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
}

function bytesAsText(escapes: string): string {
  const bytes = [...escapes.matchAll(/[0-9a-f]{2}/gi)].map(([hex]) => Number.parseInt(hex, 16));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function bareOf(folded: string): string {
  return folded.replace(/[^\p{L}\p{N}]+/gu, '');
}

function foldCase(text: string): string {
  return looseText(text).toLowerCase();
}
