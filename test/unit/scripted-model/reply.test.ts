import { describe, expect, it } from 'vitest';
import { matchRule } from '../../../src/scripted-model/match.ts';
import { parseScript } from '../../../src/scripted-model/read-script.ts';
import { buildCompletion, completionBody, completionChunks } from '../../../src/scripted-model/reply.ts';
import type { Completion } from '../../../src/scripted-model/reply.ts';
import type { RequestView } from '../../../src/scripted-model/request-view.ts';
import { calls, tool, user, view } from './view.ts';

function complete(rule: string, request: RequestView = view([user('refund order 88')])): Completion {
  const script = parseScript(`rules: [${rule}]`, 's.yaml');
  const match = matchRule(script, request)!;
  return buildCompletion(match.rule.replies[0]!, { script, match, request, requestHash: 'cafe' });
}

describe('buildCompletion', () => {
  it('fills placeholders in content, json and arguments, once', () => {
    const request = view([user('order {{last_tool}}'), calls(['a', 'f']), tool('a', 'R')]);
    const rule = (reply: string): string => `{ when: { user_matches: 'order (.*)' }, reply: ${reply} }`;
    expect(
      complete(rule("{ content: '{{last_user}}|{{ last_tool }}|{{match.1}}|{{match.9}}|{{x}}' }"), request).content,
    ).toBe('order {{last_tool}}|R|{{last_tool}}||{{x}}');
    expect(complete(rule("{ json: { a: ['{{last_tool}}', 1] } }"), request).content).toBe('{"a":["R",1]}');
    expect(
      complete(rule("{ tool_calls: [{ name: f, arguments: { a: '{{last_tool}}' } }] }"), request).toolCalls,
    ).toEqual([{ id: 'call_cafe_0', type: 'function', function: { name: 'f', arguments: '{"a":"R"}' } }]);
  });

  it('sends malformed calls as written', () => {
    const made = complete('{ reply: { tool_calls: [{ name: f, raw_arguments: "{broken", id: "" }, { raw: oops }] } }');
    expect(made.toolCalls).toEqual([
      { id: '', type: 'function', function: { name: 'f', arguments: '{broken' } },
      'oops',
    ]);
    expect(made.finishReason).toBe('tool_calls');
  });

  it('estimates usage alike for the same request, takes what is given, and leaves it out for null', () => {
    expect(complete('{ reply: { content: abcdefgh } }').usage).toMatchObject({
      prompt_tokens: 4,
      completion_tokens: 2,
      total_tokens: 6,
    });
    expect(complete('{ reply: { content: x, usage: { input: 10, cached: 3, reasoning: 2 } } }').usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 1,
      total_tokens: 11,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    });
    const none = complete('{ reply: { content: x, usage: null } }');
    expect('usage' in (JSON.parse(completionBody(none, 1)) as object)).toBe(false);
  });
});

describe('completionChunks', () => {
  const deltas = (completion: Completion): { content: string; args: string } => {
    const events = completionChunks(completion, 1, true).slice(0, -1);
    const parsed = events.map(
      (event) => JSON.parse(event.slice('data: '.length)) as { choices: { delta: Record<string, never> }[] },
    );
    const all = parsed.flatMap((event) => event.choices.map((choice) => choice.delta));
    return {
      content: all.map((delta) => delta['content'] ?? '').join(''),
      args: all
        .map(
          (delta) =>
            (delta['tool_calls'] as never as { function: { arguments: string } }[] | undefined)?.[0]?.function
              .arguments ?? '',
        )
        .join(''),
    };
  };

  it('the pieces put together are the content, surrogate pairs whole', () => {
    const text = '张工🙂'.repeat(30);
    const completion = complete(`{ reply: { content: ${text} } }`);
    expect(deltas(completion).content).toBe(text);
    for (const event of completionChunks(completion, 1, false)) expect(Buffer.from(event).toString()).toBe(event);
  });

  it('the pieces put together are the arguments', () => {
    const completion = complete('{ reply: { tool_calls: [{ name: f, arguments: { text: a long argument text } }] } }');
    expect(JSON.parse(deltas(completion).args)).toEqual({ text: 'a long argument text' });
  });

  it('usage comes in a chunk of its own, and only when asked for', () => {
    const completion = complete('{ reply: { content: x } }');
    expect(completionChunks(completion, 1, true).at(-2)).toContain('"choices":[],"usage":{"prompt_tokens"');
    expect(completionChunks(completion, 1, false).join('')).not.toContain('usage');
    expect(completionChunks(completion, 1, false).at(-1)).toBe('data: [DONE]\n\n');
  });
});
