import type { EvalCase, RagDocument, SubAgentDefinition, ToolDefinition } from '../../core/case.ts';
import type { OpenAiAgentConfig } from '../../core/suite.ts';
import { PROMPT_SEGMENTS, type PromptSegment } from '../../core/trajectory.ts';

/** What the placeholders of an agent's own segments stand for. */
export interface PromptFacts {
  tools: readonly ToolDefinition[];
  subAgents: readonly SubAgentDefinition[];
  maxSteps: number;
}

/**
 * The parts of the system prompt in the order they are sent; empty ones are listed, and leave no trace in the text.
 *
 * An agent without `prompt_segments` sends its `system_prompt` as `base`, then the case's segments as the case lists
 * them: the case says how the prompt is assembled. One with `prompt_segments` assembles: the segments of
 * {@link PROMPT_SEGMENTS} in that order, others after them, the case's in the place of the agent's of the same name.
 * In both, the `system_prompt` and a `base` are one segment. Documents come last.
 */
export function assemblePrompt(
  evalCase: Pick<EvalCase, 'context'>,
  config: Pick<OpenAiAgentConfig, 'system_prompt' | 'prompt_segments'>,
  facts: PromptFacts | null,
): PromptSegment[] {
  const listed = evalCase.context?.prompt_segments ?? [];
  const parts =
    config.prompt_segments === undefined ? [...listed] : merged(ownSegments(config.prompt_segments, facts), listed);
  const segments = withSystemPrompt(parts, config.system_prompt ?? '');
  const documents = documentsText(evalCase.context?.documents ?? []);
  return documents === '' ? segments : [...segments, { name: 'documents', text: documents }];
}

/** The system message of assembled segments; empty when there is nothing to say. */
export function systemText(segments: readonly PromptSegment[]): string {
  return segments
    .map((segment) => segment.text)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

/** One line a tool or sub-agent: `- name: description`. */
function catalogue(entries: readonly { name: string; description?: string }[]): string {
  return entries
    .map(({ name, description }) => (description === undefined ? `- ${name}` : `- ${name}: ${description}`))
    .join('\n');
}

/** Placeholders are filled once, in the suite's own text only: a case's text is data. A catalogue of nothing is no segment. */
function ownSegments(segments: readonly PromptSegment[], facts: PromptFacts | null): PromptSegment[] {
  if (facts === null) return [...segments];
  const values: Record<string, string> = {
    tools: catalogue(facts.tools),
    sub_agents: catalogue(facts.subAgents),
    max_steps: String(facts.maxSteps),
  };
  return segments.map(({ name, text }) => {
    const nothing = ['tools', 'sub_agents'].some((key) => text.includes(`{{${key}}}`) && values[key] === '');
    const filled = text.replaceAll(/\{\{(tools|sub_agents|max_steps)\}\}/g, (_, key: string) => values[key] ?? '');
    return { name, text: nothing ? '' : filled };
  });
}

function merged(own: readonly PromptSegment[], listed: readonly PromptSegment[]): PromptSegment[] {
  const replaced = new Set(listed.map((segment) => segment.name));
  const rank = ({ name }: PromptSegment): number => {
    const at = (PROMPT_SEGMENTS as readonly string[]).indexOf(name);
    return at === -1 ? PROMPT_SEGMENTS.length : at;
  };
  return [...own.filter(({ name }) => !replaced.has(name)), ...listed].toSorted((a, b) => rank(a) - rank(b));
}

function withSystemPrompt(parts: readonly PromptSegment[], systemPrompt: string): PromptSegment[] {
  if (systemPrompt.trim() === '') return [...parts];
  const at = parts.findIndex(({ name }) => name === 'base');
  if (at === -1) return [{ name: 'base', text: systemPrompt }, ...parts];
  return parts.map((part, index) =>
    index === at
      ? { name: 'base', text: [systemPrompt, part.text].filter((text) => text.trim() !== '').join('\n\n') }
      : part,
  );
}

function documentsText(documents: readonly RagDocument[]): string {
  if (documents.length === 0) return '';
  const texts = documents.map(({ id, title, text }) => `[${id}]${title === undefined ? '' : ` ${title}`}\n${text}`);
  return ['Documents:', ...texts].join('\n\n');
}
