// What Assay runs: a copy of the agent whose tools are recorded, on the model the evaluation gives.
import { OpenAIChatCompletionsModel, Runner } from '@openai/agents';
import type { AgentFunction } from 'assay';
import OpenAI from 'openai';
import { supportAgent } from './support-agent.ts';

const agent: AgentFunction = async (input, { model, options, signal, wrap }) => {
  const client = new OpenAI({
    baseURL: model?.baseURL ?? 'https://api.openai.com/v1',
    apiKey: model?.apiKey ?? 'none',
    maxRetries: 0,
  });
  const evaluated = supportAgent.clone({
    model: new OpenAIChatCompletionsModel(client, String(options['model'])),
    tools: wrap(supportAgent.tools),
  });
  const result = await new Runner({ tracingDisabled: true }).run(evaluated, input, { maxTurns: 6, signal });
  const { inputTokens, outputTokens } = result.state.usage;
  return { answer: result.finalOutput ?? null, usage: { input: inputTokens, output: outputTokens } };
};

export default agent;
