import type { Json } from '../../core/json.ts';
import type { ToolCall, Trajectory } from '../../core/trajectory.ts';

/** A text the agent sent out, with the words a reason uses for its place. */
export interface OutgoingText {
  where: string;
  text: string;
}

/** All an agent lets out: the answer, tool arguments (keys too, malformed ones raw), and what sub-agents are told. */
export function outgoingTexts(trajectory: Trajectory): OutgoingText[] {
  const texts: OutgoingText[] = [];
  if (trajectory.answer !== null) texts.push({ where: 'the answer', text: trajectory.answer });
  for (const call of trajectory.tool_calls)
    addCall(call, `arguments of call ${call.index + 1} \`${call.tool}\``, texts);
  for (const run of trajectory.sub_agents) {
    texts.push({ where: `the message to sub-agent ${run.name}`, text: run.input });
    for (const call of run.tool_calls) {
      addCall(call, `arguments of call ${call.index + 1} \`${call.tool}\` of sub-agent ${run.name}`, texts);
    }
  }
  return texts;
}

function addCall(call: ToolCall, where: string, texts: OutgoingText[]): void {
  if (call.raw_arguments !== null) texts.push({ where, text: call.raw_arguments });
  const rest: Json[] = call.args === null ? [] : [call.args];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === 'string') texts.push({ where, text: value });
    else if (Array.isArray(value)) for (const item of value) rest.push(item);
    else if (value !== null && typeof value === 'object') {
      for (const key of Object.keys(value)) {
        texts.push({ where, text: key });
        rest.push(value[key] ?? null);
      }
    }
  }
}
