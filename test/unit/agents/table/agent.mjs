// One agent that follows a script, as a module (default export) and as a program of the command protocol.
import { createInterface } from 'node:readline';

/** As a module: each list of calls at once, so that they overlap. What fails is for the case to judge. */
export default async function agent(_input, context) {
  let answer = '';
  const subAgents = [];
  for (const step of context.metadata.script) {
    if (step.answer !== undefined) answer = step.answer;
    else if (step.made !== undefined) {
      const { dispatch_sub_agent: dispatch } = context.wrap({ dispatch_sub_agent: () => step.made.result });
      await dispatch(JSON.parse(step.dispatch.function.arguments));
      subAgents.push(step.made.run);
    } else {
      await Promise.allSettled(step.calls.map((raw) => context.callTool(...nameAndArguments(raw))));
    }
  }
  return { answer, subAgents };
}

function nameAndArguments(raw) {
  const { name, arguments: text } = raw.function ?? {};
  return text === undefined ? [raw.custom?.name, raw.custom?.input ?? raw] : [name, parsed(text)];
}

/** Integers beyond a double are objects here, as everywhere in Assay; what is no JSON stays a text. */
function parsed(text) {
  const big = /\d{16,}/.exec(text);
  if (big !== null) return { order: { $bignum: big[0] } };
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

if (process.argv[2] === 'command') {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const start = JSON.parse((await lines.next()).value);
  let made = {};
  for (const step of start.metadata.script) {
    if (step.made !== undefined) {
      made = {
        tool_calls: [{ ...step.dispatch, result: step.made.result }],
        sub_agents: [step.made.run],
      };
      continue;
    }
    if (step.answer === undefined) say({ type: 'tool_calls', calls: step.calls });
    else say({ type: 'result', answer: step.answer, ...made });
    await lines.next();
  }
  process.exit(0);
}
