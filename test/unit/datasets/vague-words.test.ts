import { describe, expect, test } from 'vitest';
import { VAGUE_WORDS, vagueWords } from '../../../src/datasets/checks/vague-words.ts';

describe('vague words', () => {
  test.each(VAGUE_WORDS)('%s is found in a sentence, by itself and at either end', (word) => {
    const isEnglish = /^[\x20-\x7e]+$/.test(word);
    for (const text of isEnglish
      ? [word, `a ${word} answer`, `${word.toUpperCase()}!`, `语气${word} x`.replace(word, ` ${word}`)]
      : [word, `回答${word}。`, `an answer that is ${word}`]) {
      expect(vagueWords(text).map((found) => found.toLowerCase())).toContain(word);
    }
  });

  test('both languages are covered', () => {
    const english = VAGUE_WORDS.filter((word) => /^[\x20-\x7e]+$/.test(word));
    expect(english.length).toBeGreaterThan(10);
    expect(VAGUE_WORDS.length - english.length).toBeGreaterThan(8);
  });

  test.each([
    'the goods are named',
    'the well-known tower is named',
    'etcetera',
    'a wellness hotel',
    'inappropriateness',
    'names city = 北京 and the date 2026-03-18',
    '包含航班号和价格',
    '',
  ])('nothing in %j', (text) => {
    expect(vagueWords(text)).toEqual([]);
  });

  test('a list of the user replaces the built-in one, and its words are no patterns', () => {
    expect(vagueWords('a good, swift answer (fast)', ['swift', '(fast)', 'a.d'])).toEqual(['swift', '(fast)']);
    expect(vagueWords('a good answer', [])).toEqual([]);
  });

  test('each word once, as it is written in the text', () => {
    expect(vagueWords('Good and GOOD, 合理且合理')).toEqual(['Good', '合理']);
  });
});
