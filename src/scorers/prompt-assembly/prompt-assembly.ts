import type { EvalCase, ExpectedSegment } from '../../core/case.ts';
import { PROMPT_SEGMENTS, type PromptSegment, type Trajectory } from '../../core/trajectory.ts';
import { foldText } from '../values/normalise-text.ts';
import { listed, preview } from '../values/preview.ts';
import type { Scorer } from '../scorer.ts';

/** Shorter texts may stand twice in a prompt by chance. */
const SHORTEST_TELLING = 12;

/** One fault of an assembled prompt. */
interface Fault {
  rule: 'missing' | 'empty' | 'twice' | 'order' | 'content' | 'not_sent';
  segment: string;
  reason: string;
}

/**
 * Assembly of the system prompt: the expected segments (`expected.prompt_segments`; for cases of dimension prompt_assembly
 * all of {@link PROMPT_SEGMENTS}) present, in order, once each, and not empty unless their source is. Read from the segments
 * the agent recorded as sent, else from those the case gives; where the system prompt was recorded, every segment must stand
 * in it, in that order, as often as it is recorded. Null where there is neither.
 */
export const promptAssembly: Scorer = ({ evalCase, trajectory }) => {
  const wanted = expectedSegments(evalCase);
  if (wanted === null) return [];
  const base = { scorer: 'prompt_assembly', dimension: 'prompt_assembly' };
  const recorded = trajectory.prompt_segments ?? null;
  const segments = recorded ?? evalCase.context?.prompt_segments ?? null;
  if (segments === null) {
    const reason = 'not scored: the agent recorded no prompt segments, and the case gives none';
    return [{ ...base, value: null, passed: null, reason, details: null }];
  }
  const faults = [
    ...wanted.flatMap((one) => segmentFaults(one, segments)),
    ...orderFaults(wanted, segments),
    ...sentFaults(segments, trajectory),
  ];
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const fine = `${wanted.length} segments present, in order, once each: ${listed(wanted.map(({ name }) => name))}`;
  return [
    {
      ...base,
      value: first === undefined ? 1 : 0,
      passed: first === undefined,
      reason: first === undefined ? fine : `${first.reason}${more}`,
      details: {
        faults: faults.slice(0, 20).map((fault) => ({ ...fault })),
        segments: segments.map(({ name }) => name),
        source: recorded === null ? 'case' : 'agent',
      },
    },
  ];
};

function expectedSegments({ expected, dimension }: EvalCase): ExpectedSegment[] | null {
  const own = expected.prompt_segments;
  if (own !== undefined) return own.map((one) => (typeof one === 'string' ? { name: one } : one));
  return dimension === 'prompt_assembly' ? PROMPT_SEGMENTS.map((name) => ({ name })) : null;
}

function segmentFaults(wanted: ExpectedSegment, segments: readonly PromptSegment[]): Fault[] {
  const { name, empty = false, contains = [] } = wanted;
  const found = segments.filter((segment) => segment.name === name);
  const [first] = found;
  if (first === undefined) {
    return empty ? [] : [{ rule: 'missing', segment: name, reason: `segment \`${name}\` is missing` }];
  }
  const faults: Fault[] = [];
  if (found.length > 1) {
    faults.push({ rule: 'twice', segment: name, reason: `segment \`${name}\` is there ${found.length} times` });
  }
  if (!empty && foldText(first.text).trim() === '') {
    faults.push({ rule: 'empty', segment: name, reason: `segment \`${name}\` is empty` });
  }
  const text = foldText(first.text);
  const lacking = contains.filter((part) => !text.includes(foldText(part)));
  if (lacking.length > 0) {
    const reason = `segment \`${name}\` lacks ${lacking.map((part) => preview(part)).join(', ')}`;
    faults.push({ rule: 'content', segment: name, reason });
  }
  return faults;
}

/** The first segment that stands after one it should come before. */
function orderFaults(wanted: readonly ExpectedSegment[], segments: readonly PromptSegment[]): Fault[] {
  let last = { name: '', at: -1 };
  for (const { name } of wanted) {
    const at = segments.findIndex((segment) => segment.name === name);
    if (at === -1) continue;
    if (at < last.at) {
      return [{ rule: 'order', segment: name, reason: `segment \`${name}\` stands before \`${last.name}\`` }];
    }
    last = { name, at };
  }
  return [];
}

/** What was recorded against what was sent; nothing where no system prompt was recorded. */
function sentFaults(segments: readonly PromptSegment[], { messages }: Trajectory): Fault[] {
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  if (system.length === 0) return [];
  const sent = system.map(({ content }) => content ?? '').join('\n\n');
  const recorded = segments.map(({ text }) => text).join('\n\n');
  let from = 0;
  for (const { name, text } of segments) {
    const part = text.trim();
    if (part === '') continue;
    const at = sent.indexOf(part, from);
    if (at === -1) {
      const why = sent.includes(part) ? 'is not sent in the recorded order' : 'is not in the prompt that was sent';
      return [{ rule: 'not_sent', segment: name, reason: `segment \`${name}\` ${why}` }];
    }
    from = at + part.length;
    if (part.length >= SHORTEST_TELLING && count(sent, part) > count(recorded, part)) {
      return [{ rule: 'twice', segment: name, reason: `segment \`${name}\` was sent ${count(sent, part)} times` }];
    }
  }
  return [];
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
