/**
 * Words a judge cannot check. English words are found as whole words in any case, Chinese ones anywhere.
 * `vague_words` of the suite replaces the list, `assay lint --vague-words` replaces both.
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
  if (text === '') return [];
  return words.flatMap((word) => patternOf(word).exec(text)?.[0] ?? []);
}

const PATTERNS = new Map<string, RegExp>();

function patternOf(word: string): RegExp {
  let pattern = PATTERNS.get(word);
  if (pattern === undefined) {
    const escaped = word.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
    const isEnglish = /^[\x20-\x7e]+$/.test(word);
    pattern = new RegExp(isEnglish ? `(?<![\\p{L}\\p{N}_-])${escaped}(?![\\p{L}\\p{N}_-])` : escaped, 'iu');
    PATTERNS.set(word, pattern);
  }
  return pattern;
}
