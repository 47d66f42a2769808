export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'bold';

/** Puts a tone on a text; without colour the text as it is. */
export type Style = (tone: Tone, text: string) => string;

const CODES: Record<Tone, [number, number]> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
};

/** @param color true only for a terminal that shows colour: ANSI codes are written */
export function createStyle(color: boolean): Style {
  return (tone, text) => {
    const [on, off] = CODES[tone];
    return color && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
}
