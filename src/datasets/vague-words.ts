/**
 * Words a judge cannot check. English words are found as whole words in any case, Chinese ones anywhere.
 * A suite extends or replaces the list in `lint.vague_words`.
 */
export const VAGUE_WORDS: readonly string[] = [
  'reasonable',
  'reasonably',
  'good',
  'well',
  'nice',
  'appropriate',
  'appropriately',
  'suitable',
  'proper',
  'properly',
  'adequate',
  'adequately',
  'satisfactory',
  'high-quality',
  'user-friendly',
  'as needed',
  'if necessary',
  'etc',
  '合理',
  '适当',
  '合适',
  '恰当',
  '良好',
  '较好',
  '尽量',
  '适度',
  '必要时',
  '妥善',
];

/** The vague words of a text as they are written there, each once, in order of the list. */
export function vagueWords(text: string, words: readonly string[] = VAGUE_WORDS): string[] {
  const found: string[] = [];
  for (const word of words) {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = /^[\x20-\x7e]+$/.test(word) ? `(?<![\\p{L}\\p{N}_-])${escaped}(?![\\p{L}\\p{N}_-])` : escaped;
    const match = new RegExp(pattern, 'iu').exec(text);
    if (match !== null) found.push(match[0]);
  }
  return found;
}
