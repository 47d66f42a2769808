import { tool as langChainTool } from '@langchain/core/tools';
import { tool as openAiTool } from '@openai/agents';
import { tool as aiTool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Recorded, wrapTools } from '../../../src/agents/module/wrap-tools.ts';

interface Entry {
  tool: string;
  args: unknown;
  result: unknown;
}
function recorder(): { entries: Entry[]; record: Recorded } {
  const entries: Entry[] = [];
  return {
    entries,
    record: async (tool, args, run, shown = (result) => result) => {
      const result = await run();
      entries.push({ tool, args, result: shown(result) });
      return result;
    },
  };
}

const add = ({ a, b }: { a: number; b: number }): number => a + b;
const schema = z.object({ a: z.number(), b: z.number() });

describe('wrapTools', () => {
  test('functions keep their this and their further arguments', async () => {
    const { entries, record } = recorder();
    const sum = function (this: { base: number }, args: { a: number }, more: number): Promise<number> {
      return Promise.resolve(this.base + args.a + more);
    };
    const tools = { ...wrapTools({ sum }, record), base: 10 };
    expect(await tools.sum({ a: 1 }, 5)).toBe(16);
    expect(entries).toEqual([{ tool: 'sum', args: { a: 1 }, result: 16 }]);
  });

  test('a tool of the AI SDK', async () => {
    const { entries, record } = recorder();
    const own = { add: aiTool({ inputSchema: schema, execute: add }) };
    const { add: wrapped } = wrapTools(own, record);
    expect(await wrapped.execute?.({ a: 1, b: 2 }, { toolCallId: '1', messages: [], context: {} } as never)).toBe(3);
    expect(entries).toEqual([{ tool: 'add', args: { a: 1, b: 2 }, result: 3 }]);
    expect(wrapped.inputSchema).toBe(own.add.inputSchema);
  });

  test('a tool of the OpenAI Agents SDK, in a list', async () => {
    const { entries, record } = recorder();
    const [wrapped] = wrapTools(
      [openAiTool({ name: 'add', description: 'Adds.', parameters: schema, execute: add })],
      record,
    );
    expect(await wrapped?.invoke({} as never, '{"a": 1, "b": 2}')).toBe(3);
    expect(entries).toEqual([{ tool: 'add', args: { a: 1, b: 2 }, result: 3 }]);
    await wrapped?.invoke({} as never, 'no json').catch(() => undefined);
    expect(entries.at(-1)?.args).toBe('no json');
  });

  test('a tool of LangChain, by arguments and by a tool call', async () => {
    const { entries, record } = recorder();
    const own = langChainTool(async (args: { a: number; b: number }) => String(add(args)), { name: 'add', schema });
    const [wrapped] = wrapTools([own], record);
    expect(await wrapped?.invoke({ a: 1, b: 2 })).toBe('3');
    const message = await wrapped?.invoke({ type: 'tool_call', id: 'c1', name: 'add', args: { a: 2, b: 2 } });
    expect(message).toMatchObject({ content: '4', tool_call_id: 'c1' });
    expect(entries).toEqual([
      { tool: 'add', args: { a: 1, b: 2 }, result: '3' },
      { tool: 'add', args: { a: 2, b: 2 }, result: '4' },
    ]);
    expect(wrapped).toBeInstanceOf(own.constructor);
  });

  test('what cannot be called here is refused, by name', () => {
    const { record } = recorder();
    expect(() => wrapTools([{ type: 'hosted_tool', name: 'web_search' }], record)).toThrow(
      'tool web_search is neither',
    );
    expect(() => wrapTools([{ execute: add }], record)).toThrow('has no name');
  });
});
