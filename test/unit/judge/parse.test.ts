import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHtml, parseReply } from '../../../src/judge/parse.ts';

const object = (text: string): unknown => {
  const parsed = parseReply(text);
  return parsed.ok ? parsed.object : parsed.error;
};

describe('parseReply', () => {
  it.each([
    ['a bare object', '{"a":1}'],
    ['a fenced object', '```json\n{"a":1}\n```'],
    ['a fence without a language', '```\n{"a":1}\n```'],
    ['prose on both sides', 'My verdict: {"a":1}. I am sure "of it}'],
    ['a closed think block', '<think>{"a":2}</think>{"a":1}'],
    ['a think block in capitals', '<THINK>{"a":2}</Think> {"a":1}'],
    ['the same object twice', '{"a":1}\n{ "a": 1.0 }'],
    ['braces that are prose', '{note} {"a":1}'],
  ])('finds the object in %s', (_name, text) => {
    expect(object(text)).toEqual({ a: 1 });
  });

  it.each([
    ['nothing', '', 'it holds no JSON object'],
    ['prose', 'The answer is a success.', 'it holds no JSON object'],
    ['an unclosed think block', '<think>{"a":1}', 'a <think> block is not closed'],
    ['an unclosed object', '{"a":"long', 'a JSON object is not closed'],
    ['an object inside an unclosed one', '{"draft": {"a":1}', 'a JSON object is not closed'],
    ['an object inside prose braces', '{verdict {"a":1} end}', 'it holds no JSON object'],
    ['two different objects', '{"a":1} {"a":2}', 'it holds two different JSON objects'],
    ['a list of different objects', '[{"a":1},{"a":2}]', 'it holds two different JSON objects'],
    ['a key twice', '{"a":1,"a":1}', 'the key "a" is given twice'],
    ['a key twice in different case', '{"a":1,"b":{"a":2},"A":0}', 'the key "a" is given twice'],
    ['a key twice, once escaped', '{"a":1,"\\u0061":0}', 'the key "a" is given twice'],
    ['NaN', '{"a":NaN}', 'it holds no JSON object'],
    ['an object as a string', '"{\\"a\\":1}"', 'a JSON object is not closed'],
    ['depth 5,000', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'a JSON object is nested deeper than 100'],
  ])('refuses %s', (_name, text, error) => {
    expect(object(text)).toBe(error);
  });

  it('changes nothing inside strings', () => {
    const reason = 'it said ```json {"a":2} ``` and <think>x</think>, "quoted", \\ and 全角 ';
    expect(object(`<think>no</think>\n\`\`\`json\n${JSON.stringify({ reason })}\n\`\`\``)).toEqual({ reason });
  });

  it('reads __proto__ as a key like others', () => {
    const parsed = parseReply('{"__proto__":{"result":"success"},"a":1}');
    expect(parsed.ok && Object.hasOwn(parsed.object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['result']).toBeUndefined();
  });

  it('finds any object in any wrapping that holds no braces or think tags', () => {
    const prose = fc.string().map((text) => text.replaceAll(/[{}<]/g, ''));
    const value = fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      fc.jsonValue({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(prose, value, prose, (before, content, after) => {
        const lower = Object.keys(content).map((key) => key.toLowerCase());
        fc.pre(new Set(lower).size === lower.length);
        const text = JSON.stringify(content);
        expect(parseReply(`${before}${text}${after}`)).toEqual({ ok: true, object: JSON.parse(text) });
      }),
      { numRuns: 2000, seed: 3 },
    );
  });

  it('takes time in proportion to the length of hostile text', () => {
    // Time of the processor: that of the clock depends on what else runs.
    const started = process.cpuUsage();
    for (const part of ['{', '{"', '<think>', '<', '{}', '{"a":1}', '\\"{']) parseReply(part.repeat(200_000));
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5000);
  });
});

describe('isHtml', () => {
  it.each(['<!DOCTYPE html><html>', '  <html lang="en">', '<?xml version="1.0"?><html>', '<head>'])('%s', (text) => {
    expect(isHtml(text)).toBe(true);
  });
  it.each(['{"reason":"<html>"}', '<think>x</think>{}', 'an <html> page', ''])('not %s', (text) => {
    expect(isHtml(text)).toBe(false);
  });
});
