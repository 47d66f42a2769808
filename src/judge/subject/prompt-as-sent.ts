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

/** Segments by name and text, in their order. Null = none. */
export function segmentsOf(segments: readonly PromptSegment[]): string | null {
  return listed(segments.map(({ name, text }) => (text.trim() === '' ? `${name}: (empty)` : `${name}: ${text}`)));
}
