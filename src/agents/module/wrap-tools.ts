/** Runs a tool and records it: name, arguments, result or error, start and end. */
export type Recorded = (
  tool: string,
  args: unknown,
  run: () => unknown,
  /** What of the result is recorded; default all of it. */
  shown?: (result: unknown) => unknown,
) => Promise<unknown>;

type Method = (...args: unknown[]) => unknown;

/** How tools of one library are called. */
interface Convention {
  /** True for a tool of this library. */
  fits(tool: Record<string, unknown>): boolean;
  method: 'execute' | 'invoke';
  argsOf(args: unknown[]): unknown;
  shown?(result: unknown): unknown;
}

/** Tried in this order. */
const CONVENTIONS: readonly Convention[] = [
  // The Vercel AI SDK, Mastra and others: execute(args, options).
  { fits: (tool) => isMethod(tool['execute']), method: 'execute', argsOf: ([args]) => args },
  // The OpenAI Agents SDK: invoke(runContext, argumentsAsJson).
  {
    fits: (tool) => tool['type'] === 'function' && isMethod(tool['invoke']),
    method: 'invoke',
    argsOf: ([, text]) => parsed(text),
  },
  // LangChain and LangGraph: invoke(args or tool call, config), which gives a message for a tool call.
  {
    fits: (tool) => isMethod(tool['invoke']),
    method: 'invoke',
    argsOf: ([input]) => (isObject(input) && input['type'] === 'tool_call' ? input['args'] : input),
    shown: (result) => (isObject(result) && 'tool_call_id' in result ? result['content'] : result),
  },
];

/**
 * Tools that are recorded when they are called, otherwise the same: functions, or tools of the Vercel AI SDK, the OpenAI
 * Agents SDK or LangChain; by name in an object, or in a list of tools that have a name.
 * @throws {TypeError} for a tool that cannot be called here, such as one a provider runs itself
 */
export function wrapTools<T extends Record<string, unknown> | readonly unknown[]>(tools: T, record: Recorded): T {
  if (Array.isArray(tools)) return tools.map((tool) => wrapTool(nameOf(tool), tool, record)) as unknown as T;
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(name, tool, record)]);
  return Object.fromEntries(wrapped) as T;
}

function wrapTool(name: string, tool: unknown, record: Recorded): unknown {
  if (isMethod(tool)) {
    return function wrappedTool(this: unknown, ...args: unknown[]): Promise<unknown> {
      return record(name, args[0], () => tool.apply(this, args));
    };
  }
  const convention = isObject(tool) ? CONVENTIONS.find((one) => one.fits(tool)) : undefined;
  if (!isObject(tool) || convention === undefined) {
    throw new TypeError(`wrap: tool ${name} is neither a function nor an object with an execute or invoke function`);
  }
  const method = tool[convention.method] as Method;
  const run: Method = (...args) =>
    record(name, convention.argsOf(args), () => method.apply(tool, args), convention.shown);
  const copy = Object.create(Object.getPrototypeOf(tool) as object) as object;
  return Object.assign(copy, tool, { [convention.method]: run });
}

function nameOf(tool: unknown): string {
  const name = isObject(tool) || isMethod(tool) ? (tool as { name?: unknown }).name : undefined;
  if (typeof name === 'string' && name !== '') return name;
  throw new TypeError('wrap: a tool in a list has no name; give the tools as {name: tool}');
}

/** Text that is no JSON is recorded as it came: the library refuses it itself. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
