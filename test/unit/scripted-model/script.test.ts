import { describe, expect, it } from 'vitest';
import { InputError } from '../../../src/core/errors.ts';
import { parseScript, readScript } from '../../../src/scripted-model/read-script.ts';

function problems(text: string): string[] {
  try {
    parseScript(text, 's.yaml');
  } catch (error) {
    if (error instanceof InputError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('parseScript', () => {
  it('fills in the defaults', () => {
    const script = parseScript(
      'rules:\n  - reply: { content: hi }\n  - { name: n, replies: [{ hang: true }] }\n',
      's.yaml',
    );
    expect(script).toMatchObject({ file: 's.yaml', model: 'scripted-1', delay_ms: 0, fallback: null });
    expect(script.rules.map((rule) => [rule.name, rule.replies.length, rule.allow_repeat])).toEqual([
      ['rule-1', 1, false],
      ['n', 1, false],
    ]);
  });

  it('an empty file is a script without rules', () => {
    expect(parseScript('', 's.yaml').rules).toEqual([]);
  });

  it('names every problem with its place', () => {
    const text = `model: m
rules:
  - when: { user_contain: x }
    reply: { content: hi }
  - when: { user_matches: '(?=a)' }
    reply:
      status: 99
  - when: { user_contains: 88 }
    reply: { content: hi }
    replies: [{ content: ho }]
  - reply: { model: only }
  - reply: { tool_calls: [{ arguments: {} }] }
`;
    const found = problems(text);
    expect(found).toHaveLength(7);
    expect(found[0]).toMatch(/^s\.yaml:3:13: error: rules\.0\.when: .*user_contain/);
    expect(found[1]).toMatch(/^s\.yaml:5:27: error: rules\.1\.when\.user_matches: not a regular expression of RE2/);
    expect(found[2]).toMatch(/^s\.yaml:7:15: error: rules\.1\.reply\.status/);
    expect(found[3]).toMatch(/^s\.yaml:8:28: error: rules\.2\.when\.user_contains: expected a text/);
    expect(found.join('\n')).toContain('s.yaml:8:5: error: rules.2: give exactly one of reply and replies');
    expect(found.join('\n')).toMatch(/s\.yaml:11:12: error: rules\.3\.reply: a reply needs one of content/);
    expect(found.join('\n')).toMatch(/s\.yaml:12:27: error: rules\.4\.reply\.tool_calls\.0: a tool call needs a name/);
  });

  it.each([
    ['a duplicate key', 'model: a\nmodel: b\n', 's.yaml:2:1: error: Map keys must be unique'],
    ['a custom tag', 'model: !!js/function x\n', 's.yaml:1:8: error: Unresolved tag'],
    ['a tab', 'rules:\n\t- reply: x\n', 's.yaml:2:'],
    ['an unclosed list', 'rules: [\n', 's.yaml:'],
    ['a list at the top', '- a\n', 's.yaml:1:1: error: Invalid input: expected object'],
  ])('D1: %s is refused with its place', (_name, text, start) => {
    expect(problems(text)[0]).toContain(start);
  });

  it('D1: an alias bomb is refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`,
    );
    expect(problems(`a0: &a0 x\n${levels.join('\n')}\n`)[0]).toContain('Excessive alias count');
  });

  it('a file that is not there is a user error that names it', async () => {
    await expect(readScript('/nowhere/s.yaml')).rejects.toThrow(
      /^The model script \/nowhere\/s\.yaml cannot be read: no such file$/,
    );
  });
});
