import { describe, expect, test } from 'vitest';
import { createOpenAiAgent } from '../../../src/agents/openai/openai-agent.ts';
import { assemblePrompt, type PromptFacts, systemText } from '../../../src/agents/openai/prompt-segments.ts';
import { PROMPT_SEGMENTS, type PromptSegment } from '../../../src/core/trajectory.ts';
import { caseOf, inputOf, scripted, suiteOf, text } from './trial-fixture.ts';

const FACTS: PromptFacts = {
  tools: [{ name: 'get_order', description: 'Looks it up.' }, { name: 'refund' }],
  subAgents: [{ name: 'clerk', description: 'Files.' }],
  maxSteps: 6,
};
const named = (...names: string[]): PromptSegment[] => names.map((name) => ({ name, text: `the ${name}` }));
const namesOf = (segments: readonly PromptSegment[]): string[] => segments.map(({ name }) => name);

describe('an agent that assembles', () => {
  test('sends the eight segments in their order, others after them, documents last, whatever the order listed', () => {
    const listed = named(...[...PROMPT_SEGMENTS].reverse(), 'house_rules');
    const evalCase = caseOf({ context: { documents: [{ id: 'd1', text: 'Forty days.' }] } });
    const segments = assemblePrompt(evalCase, { prompt_segments: listed }, FACTS);
    expect(namesOf(segments)).toEqual([...PROMPT_SEGMENTS, 'house_rules', 'documents']);
    expect(systemText(segments).split('\n\n').slice(0, 9)).toEqual(segments.slice(0, 9).map((one) => one.text));
  });

  test('a case’s segment takes the place of the agent’s of the same name; its text is data', () => {
    const context = { prompt_segments: [{ name: 'topic', text: 'topic of the case: {{max_steps}} {{tools}}' }] };
    const own = [...named('base', 'topic'), { name: 'max_steps', text: 'At most {{max_steps}} steps.' }];
    expect(assemblePrompt(caseOf({ context }), { prompt_segments: own }, FACTS)).toEqual([
      { name: 'base', text: 'the base' },
      { name: 'topic', text: 'topic of the case: {{max_steps}} {{tools}}' },
      { name: 'max_steps', text: 'At most 6 steps.' },
    ]);
  });

  test('catalogues are filled in; one of nothing is an empty segment that is not sent', () => {
    const own = [
      { name: 'skills_catalogue', text: 'Tools:\n{{tools}}' },
      { name: 'sub_agent_catalogue', text: 'Sub-agents:\n{{sub_agents}}' },
    ];
    const full = assemblePrompt(caseOf(), { prompt_segments: own }, FACTS);
    expect(full.map((one) => one.text)).toEqual([
      'Tools:\n- get_order: Looks it up.\n- refund',
      'Sub-agents:\n- clerk: Files.',
    ]);
    const alone = assemblePrompt(caseOf(), { prompt_segments: own }, { ...FACTS, subAgents: [] });
    expect(alone[1]).toEqual({ name: 'sub_agent_catalogue', text: '' });
    expect(systemText(alone)).toBe('Tools:\n- get_order: Looks it up.\n- refund');
  });

  test('what is filled in is not filled in again', () => {
    const tools = [{ name: 'x', description: '{{max_steps}}' }];
    const own = [{ name: 'skills_catalogue', text: '{{tools}}' }];
    expect(assemblePrompt(caseOf(), { prompt_segments: own }, { ...FACTS, tools })[0]?.text).toBe('- x: {{max_steps}}');
  });
});

describe('an agent without segments of its own', () => {
  test('sends its system prompt as base, then the case’s segments as the case lists them', () => {
    const context = { prompt_segments: named('topic', 'user_profile', 'topic') };
    const segments = assemblePrompt(caseOf({ context }), { system_prompt: 'You help.' }, FACTS);
    expect(namesOf(segments)).toEqual(['base', 'topic', 'user_profile', 'topic']);
  });

  test('the system prompt and a base are one segment, at the place of the base', () => {
    const context = { prompt_segments: named('topic', 'base') };
    expect(assemblePrompt(caseOf({ context }), { system_prompt: 'You help.' }, FACTS)).toEqual([
      { name: 'topic', text: 'the topic' },
      { name: 'base', text: 'You help.\n\nthe base' },
    ]);
  });

  test('nothing to say is no system message', () => {
    expect(systemText(assemblePrompt(caseOf(), { system_prompt: '  ' }, FACTS))).toBe('');
  });
});

test('the trajectory holds the segments whose text was sent', async () => {
  const model = scripted(text('done'));
  const suite = suiteOf({
    agent: {
      type: 'openai',
      model: 'm',
      system_prompt: 'You help.',
      prompt_segments: [{ name: 'max_steps', text: 'At most {{max_steps}}.' }],
    },
    limits: { ...suiteOf().limits, max_iterations: 7 },
  });
  const trajectory = await createOpenAiAgent().run(inputOf({ model, suite }));
  expect(trajectory.prompt_segments).toEqual([
    { name: 'base', text: 'You help.' },
    { name: 'max_steps', text: 'At most 7.' },
  ]);
  expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'You help.\n\nAt most 7.' });
});
