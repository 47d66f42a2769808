/** Without one of these a text is folded already. */
const BEYOND_ASCII = /[\u0080-\uFFFF]/;
const WIDE = /[\u3000\uFF01-\uFFEE]+/g;
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F]/g;
/** Zero-width characters, soft hyphens, marks of direction, variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const DASHES = /[\u2010-\u2015\u2212\uFE58\uFE63]/g;
const SINGLE_QUOTES = /[\u2018\u2019\u201A\u201B]/g;
const DOUBLE_QUOTES = /[\u201C-\u201F]/g;

/**
 * Text made comparable, never stored: NFC; full-width and half-width forms folded to the ordinary ones (`８８` = `88`);
 * no-break and typographic spaces to a space; invisible characters removed; curly quotes to straight ones.
 */
export function foldText(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(WIDE, (wide) => wide.normalize('NFKC'))
    .replace(SPACES, ' ')
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .normalize('NFC');
}

/** {@link foldText}, and every kind of hyphen and dash as `-`: models write numbers and keys with non-breaking hyphens. */
export function looseText(text: string): string {
  return BEYOND_ASCII.test(text) ? foldText(text).replace(DASHES, '-') : text;
}
