// What Assay runs: the agent with its own tools, recorded, on the model the evaluation gives.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { AgentFunction } from 'assay';
import { supportAgent, supportTools } from './support-agent.ts';

const agent: AgentFunction = async (input, { model, options, signal, wrap }) => {
  const provider = createOpenAICompatible({
    name: 'assay',
    baseURL: model?.baseURL ?? 'https://api.openai.com/v1',
    ...(model?.apiKey ? { apiKey: model.apiKey } : {}),
  });
  const result = await supportAgent(input, {
    model: provider.chatModel(String(options['model'])),
    tools: wrap(supportTools),
    signal,
  });
  const { inputTokens, outputTokens } = result.totalUsage;
  return {
    answer: result.text,
    usage: {
      ...(inputTokens === undefined ? {} : { input: inputTokens }),
      ...(outputTokens === undefined ? {} : { output: outputTokens }),
    },
  };
};

export default agent;
