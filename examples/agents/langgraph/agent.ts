// What Assay runs: the graph with its own tools, recorded, on the model the evaluation gives.
import type { AIMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import type { AgentFunction } from 'assay';
import { supportGraph, supportTools } from './support-agent.ts';

const agent: AgentFunction = async (input, { model, options, signal, wrap }) => {
  const chat = new ChatOpenAI({
    model: String(options['model']),
    apiKey: model?.apiKey ?? 'none',
    configuration: { baseURL: model?.baseURL ?? 'https://api.openai.com/v1' },
    maxRetries: 0,
  });
  const graph = supportGraph(chat, wrap(supportTools));
  const state = await graph.invoke({ messages: [{ role: 'user', content: input }] }, { recursionLimit: 16, signal });
  const replies = state.messages.filter((message): message is AIMessage => message.getType() === 'ai');
  const sum = (key: 'input_tokens' | 'output_tokens'): number =>
    replies.reduce((total, reply) => total + (reply.usage_metadata?.[key] ?? 0), 0);
  const last = replies.at(-1)?.content;
  return {
    answer: typeof last === 'string' ? last : JSON.stringify(last),
    usage: { input: sum('input_tokens'), output: sum('output_tokens') },
  };
};

export default agent;
