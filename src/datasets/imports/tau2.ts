import type { ArgsMode, EvalCase, ExpectedCall, ToolDefinition } from '../../core/case.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

export interface Tau2Case {
  evalCase: EvalCase;
  /** What of the task has no equal here. */
  left: string[];
}

/**
 * A task of tau2-bench as a case: its own `{id, user_scenario, evaluation_criteria}`, or the flat form
 * `{id, category, userScenario, expectedTools, rubric, mustCommunicate, basis}`. The expected actions are one reference path,
 * not the only right one: they are compared by the weighted score, and as a superset where the task's reward is based on
 * actions. The user's instructions are the input: there is no simulated user. State checks are not imported.
 * @throws Error that says what is missing
 */
export function caseFromTau2(task: JsonObject): Tau2Case {
  const { id } = task;
  if (typeof id !== 'string' && typeof id !== 'number') throw new Error('id: expected text');
  const left: string[] = [];
  const criteria = isJsonObject(task['evaluation_criteria']) ? task['evaluation_criteria'] : {};
  const basis = textsOf(task['basis'] ?? criteria['reward_basis']);
  const { calls, modes } = callsOf(task['expectedTools'] ?? criteria['actions'], left);
  const rubric = rubricOf(task, criteria);
  for (const part of basis)
    if (part === 'DB' || part === 'ENV_ASSERTION') left.push(`${part}: the state of tau2's environment`);
  if (isJsonObject(task['initial_state'])) left.push('initial_state');
  const category = task['category'];
  const domain = typeof category === 'string' && category !== '' ? category : 'tau2';
  const purpose = task['purpose'] ?? inside(task['description'], 'purpose') ?? null;
  return {
    evalCase: {
      id: String(id),
      input: scenarioText(task['userScenario'] ?? inside(task['user_scenario'], 'instructions')),
      expected: {
        calls,
        ...(basis.includes('ACTION') ? { match: 'superset' as const } : {}),
        ...(Object.keys(modes).length === 0 ? {} : { args: modes }),
      },
      ...(rubric.length === 0 ? {} : { rubric: rubric.join('\n') }),
      category: domain,
      tags: ['tau2'],
      metadata: { ...(typeof purpose === 'string' ? { purpose } : {}), ...(basis.length === 0 ? {} : { basis }) },
    },
    left,
  };
}

function callsOf(value: Json | undefined, left: string[]): { calls: ExpectedCall[]; modes: Record<string, ArgsMode> } {
  const calls: ExpectedCall[] = [];
  const modes: Record<string, ArgsMode> = {};
  for (const raw of Array.isArray(value) ? value : []) {
    const call = isJsonObject(raw) ? raw : {};
    const tool = call['tool'] ?? call['name'];
    if (typeof tool !== 'string' || tool === '') throw new Error('expected actions: expected {tool, args}');
    if ((call['requestor'] ?? 'assistant') !== 'assistant') {
      left.push(`action ${tool}: it is the user's, not the agent's`);
      continue;
    }
    const args = call['args'] ?? call['arguments'];
    const compared = call['compareArgs'] ?? call['compare_args'] ?? null;
    if (!Array.isArray(compared)) calls.push({ tool, args: isJsonObject(args) ? args : {} });
    else if (compared.length === 0) calls.push({ tool, args: null });
    else {
      const keys = Object.entries(isJsonObject(args) ? args : {}).filter(([key]) => compared.includes(key));
      calls.push({ tool, args: Object.fromEntries(keys) });
      modes[tool] = 'superset';
    }
  }
  return { calls, modes };
}

function rubricOf(task: JsonObject, criteria: JsonObject): string[] {
  const rules = textsOf(task['rubric'] ?? criteria['nl_assertions']);
  const told = textsOf(task['mustCommunicate'] ?? criteria['communicate_info']);
  return [
    ...new Set([...rules, ...told.filter((text) => !rules.includes(text)).map((text) => `The user is told: ${text}`)]),
  ];
}

/** Instructions as one text: a text, or named parts in the order written. */
function scenarioText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) throw new Error('user scenario: expected a text or {reason_for_call, …}');
  const { domain: _domain, ...parts } = value;
  const texts = Object.values(parts).flatMap((part) => (typeof part === 'string' && part.trim() !== '' ? [part] : []));
  if (texts.length === 0) throw new Error('user scenario: it says nothing');
  return texts.join('\n');
}

/** Tools the tasks expect, with the names of the arguments seen: enough to run, not the definitions of tau2 itself. */
export function toolsOfCalls(cases: readonly EvalCase[]): ToolDefinition[] {
  const seen = new Map<string, Set<string>>();
  for (const { tool, args } of cases.flatMap((one) => one.expected.calls ?? [])) {
    const keys = seen.get(tool) ?? new Set();
    seen.set(tool, keys);
    for (const key of Object.keys(args ?? {})) keys.add(key);
  }
  return [...seen].map(([name, keys]) => ({
    name,
    parameters: { type: 'object', properties: Object.fromEntries([...keys].map((key) => [key, {}])) },
  }));
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function inside(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) ? value[key] : undefined;
}
