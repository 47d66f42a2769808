import type { EvalCase } from '../../core/case.ts';
import type { PromptSegment, Trajectory } from '../../core/trajectory.ts';
import { listed } from './steps.ts';

/** The agent's prompt: the segments it reports, in their order, else its system messages. Null = neither is recorded. */
export function promptAsSent(trajectory: Trajectory): string | null {
  const segments = trajectory.prompt_segments ?? [];
  if (segments.length > 0) return segmentsOf(segments);
  const system = trajectory.messages
    .filter(({ role, content }) => (role === 'system' || role === 'developer') && content !== null)
    .map(({ content }) => content ?? '');
  return system.length === 0 ? null : system.join('\n\n');
}

/** The segments a case expects, in its order: what each must hold, and the text the case has for it. Null = it says none. */
export function expectedSegments({ expected, context }: EvalCase): string | null {
  const sources = context?.prompt_segments ?? [];
  if (expected.prompt_segments === undefined) return segmentsOf(sources);
  const lines = expected.prompt_segments.map((entry) => {
    const segment = typeof entry === 'string' ? { name: entry } : entry;
    const source = sources.find(({ name }) => name === segment.name)?.text.trim() ?? '';
    const contains = (segment.contains ?? []).map((text) => JSON.stringify(text)).join(', ');
    const notes = [segment.empty === true ? 'may be empty or missing' : '', contains === '' ? '' : `holds ${contains}`];
    const noted = notes.filter((note) => note !== '').join('; ');
    return `${segment.name}${noted === '' ? '' : ` (${noted})`}${source === '' ? '' : `: ${source}`}`;
  });
  return listed(lines);
}

/** Segments by name and text, in their order. Null = none. */
function segmentsOf(segments: readonly PromptSegment[]): string | null {
  return listed(segments.map(({ name, text }) => (text.trim() === '' ? `${name}: (empty)` : `${name}: ${text}`)));
}
