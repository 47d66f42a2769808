const WIDE = /[\u3000\uFF01-\uFFEE]+/g;
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F]/g;
const INVISIBLE = /[\u00AD\u200B-\u200D\u2060\uFEFF]/g;
const SINGLE_QUOTES = /[\u2018\u2019\u201A\u201B]/g;
const DOUBLE_QUOTES = /[\u201C-\u201F]/g;

/**
 * Text made comparable, never stored: NFC; full-width and half-width forms folded to the ordinary ones (`８８` = `88`);
 * no-break and typographic spaces to a space; zero-width characters and soft hyphens removed; curly quotes to straight ones.
 */
export function foldText(text: string): string {
  return text
    .replace(INVISIBLE, '')
    .replace(WIDE, (wide) => wide.normalize('NFKC'))
    .replace(SPACES, ' ')
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .normalize('NFC');
}
