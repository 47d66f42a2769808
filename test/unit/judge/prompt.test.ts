import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absentMarker, dataBlock } from '../../../src/judge/data-block.ts';
import { DIMENSIONS } from '../../../src/judge/dimensions/dimensions.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import { parsePrompt, renderPrompt } from '../../../src/judge/prompt.ts';

const parse = (text: string): ReturnType<typeof parsePrompt> =>
  parsePrompt({
    name: 'p',
    file: 'p.txt',
    text,
    dataRule: 'Data is data.',
    variables: [
      { name: 'query', required: true },
      { name: 'reference', required: false },
    ],
  });

describe('parsePrompt', () => {
  it('parts instructions from the template, with the data rule first', () => {
    const prompt = parse('\uFEFFJudge.\r\n=====\r\nAsked: {{ query }}\r\n');
    expect(prompt.instructions).toBe('Data is data.\n\nJudge.');
    expect(prompt.template).toBe('Asked: {{ query }}');
  });

  it('the hash depends on instructions, template and data rule, not on line ends', () => {
    const one = parse('Judge.\n=====\n{{query}}').hash;
    expect(parse('Judge.\r\n=======\r\n{{query}}\r\n').hash).toBe(one);
    expect(parse('Judge!\n=====\n{{query}}').hash).not.toBe(one);
    expect(parse('Judge.\n=====\n{{query}} ?').hash).not.toBe(one);
  });

  it.each([
    ['Judge {{query}}', 'p.txt: no line of equals signs'],
    ['Judge.\n=====\nno variable', 'p.txt: missing variable {{query}}'],
    ['Judge.\n=====\n{{query}}\n{{refrence}}', 'p.txt:4: unknown variable {{refrence}}'],
    ['Judge.\n=====\n{{query}}\n{{ Query }}', 'p.txt:4: "{{" does not begin a variable'],
    ['Judge.\n=====\n{{query', 'p.txt:3: "{{" does not begin a variable'],
    ['Judge {{query}}.\n=====\n{{query}}', 'p.txt:1: {{query}} stands above the ===== line'],
  ])('refuses %j', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('braces of JSON examples are no variables', () => {
    expect(parse('Reply {"a":{"b":1}}\n=====\n{{query}}').instructions).toContain('{"a":{"b":1}}');
  });
});

describe('renderPrompt', () => {
  it('puts content in once: variables and replacement patterns in it stay as they are', () => {
    const prompt = parse('Judge.\n=====\n{{query}}|{{reference}}');
    const text = renderPrompt(prompt, { query: '{{reference}} $& $1 $$', reference: null }, '(none)');
    expect(text).toContain('\n{{reference}} $& $1 $$\n');
    expect(text.endsWith('|(none)')).toBe(true);
  });

  it('refuses to render without a value for a variable, inherited names included', () => {
    const prompt = parse('Judge.\n=====\n{{query}}{{reference}}');
    expect(() => renderPrompt(prompt, { query: 'x' }, '-')).toThrow('nothing was given for {{reference}}');
  });
});

describe('dataBlock', () => {
  it('is deterministic, and its marker never occurs in the content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        const block = dataBlock('answer', content);
        const marker = /^<<<answer ([0-9a-f]{24})\n/.exec(block)?.[1] ?? '';
        expect(content.includes(marker)).toBe(false);
        expect(block).toBe(`<<<answer ${marker}\n${content}\n${marker} answer>>>`);
        expect(dataBlock('answer', content)).toBe(block);
      }),
      { numRuns: 500 },
    );
  });

  it('a marker that occurs in the content is passed over, and so is its successor', () => {
    const [first, second] = ['a'.repeat(24), absentMarker('a'.repeat(24), 'a'.repeat(24))];
    expect(absentMarker('nothing of it', first)).toBe(first);
    expect(second).toMatch(/^[0-9a-f]{24}$/);
    expect([first, second]).not.toContain(absentMarker(`${first} ${second}`, first));
  });

  it('the same content under another name has another marker', () => {
    expect(dataBlock('a', 'x').slice(5, 20)).not.toBe(dataBlock('b', 'x').slice(5, 20));
  });
});

describe('loadPrompts', () => {
  it.each(['en', 'zh'] as const)('the shipped prompts in %s are complete', async (language) => {
    const set = await loadPrompts(null, language);
    expect([...set.byName.keys()].sort()).toEqual([...Object.keys(DIMENSIONS), 'pairwise'].sort());
    for (const dimension of Object.values(DIMENSIONS)) {
      const prompt = set.byName.get(dimension.name)!;
      const required = (dimension.replySchema['required'] as string[]).map((field) => `"${field}"`);
      for (const field of required) expect(prompt.instructions).toContain(field);
      for (const variable of dimension.variables) expect(prompt.template).toContain(`{{${variable.name}}}`);
    }
  });

  it('takes own prompts before the shipped ones, and names what is wrong with them', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'assay-prompts-'));
    try {
      await writeFile(path.join(folder, 'task_completion.txt'), 'Mine.\n=====\n{{query}} {{answer}}\n');
      const set = await loadPrompts(folder, 'en');
      expect(set.byName.get('task_completion')?.instructions).toContain('Mine.');
      expect(set.byName.get('answer_quality')).toEqual((await loadPrompts(null, 'en')).byName.get('answer_quality'));
      await writeFile(path.join(folder, 'task_completon.txt'), 'typo');
      await expect(loadPrompts(folder, 'en')).rejects.toThrow('no judge dimension has this name');
    } finally {
      await rm(folder, { recursive: true });
    }
    await expect(loadPrompts(folder, 'en')).rejects.toThrow('cannot be read');
  });
});
