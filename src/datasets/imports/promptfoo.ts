import type { ChatMessage, EvalCase } from '../../core/case.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { type AssertOptions, convertAsserts } from './promptfoo-asserts.ts';
import { tryJson } from './imported-trace.ts';

/** Something of the file that is not imported: named, never dropped in silence. */
export interface NotImported {
  /** The test it belongs to, 1-based; null: the file. */
  test: number | null;
  what: string;
}

export interface PromptfooImport {
  cases: EvalCase[];
  left: NotImported[];
}

const FILE_KEYS = new Set(['prompts', 'tests', 'defaultTest', 'description', '$schema']);
const TEST_KEYS = new Set(['description', 'vars', 'assert', 'metadata']);

/**
 * The tests of a promptfoo configuration as cases: one for each prompt and test, the prompt filled with the test's
 * variables. Asserts are converted by `promptfoo-asserts.ts`.
 * @throws Error that says which part of the file is not as promptfoo writes it
 */
export function casesFromPromptfoo(config: Json, options: AssertOptions): PromptfooImport {
  if (!isJsonObject(config)) throw new Error('expected a promptfoo configuration: {prompts, tests}');
  const left: NotImported[] = [];
  for (const key of Object.keys(config)) if (!FILE_KEYS.has(key)) left.push({ test: null, what: `${key} of the file` });
  const defaults = defaultTest(config['defaultTest'], left);
  const prompts = promptsOf(config['prompts'], left);
  if (prompts.length === 0) throw new Error('prompts: none is written in the file, so there is nothing to ask');
  const { tests } = config;
  if (!Array.isArray(tests)) throw new Error('tests: expected a list (tests in other files are not read)');
  const cases: EvalCase[] = [];
  const ids = new Set<string>();
  tests.forEach((raw, at) => {
    const note = (what: string): void => void left.push({ test: at + 1, what });
    if (!isJsonObject(raw)) return note('the whole test: it is in another file');
    const test = merged(defaults, raw);
    for (const key of Object.keys(test)) if (!TEST_KEYS.has(key)) note(`${key} of the test`);
    prompts.forEach((prompt, promptAt) => {
      const id = idOf(test, at, prompts.length > 1 ? promptAt : null, ids);
      const evalCase = caseOf(id, prompt, test, promptAt === 0 ? note : () => undefined, options);
      if (evalCase === null) note(`the whole test with prompt ${promptAt + 1}: it needs more than its variables`);
      else cases.push(evalCase);
    });
  });
  return { cases, left };
}

function defaultTest(value: Json | undefined, left: NotImported[]): JsonObject {
  if (isJsonObject(value)) return value;
  if (value !== undefined && value !== null) left.push({ test: null, what: 'defaultTest: it is in another file' });
  return {};
}

function merged(defaults: JsonObject, test: JsonObject): JsonObject {
  const of = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
  const asserts = [...listOf(defaults['assert']), ...listOf(test['assert'])];
  return {
    ...defaults,
    ...test,
    vars: { ...of(defaults['vars']), ...of(test['vars']) },
    ...(asserts.length === 0 ? {} : { assert: asserts }),
  };
}

function promptsOf(value: Json | undefined, left: NotImported[]): string[] {
  return listOf(value).flatMap((prompt) => {
    const text = isJsonObject(prompt) ? (prompt['raw'] ?? prompt['content'] ?? null) : prompt;
    if (typeof text === 'string' && !isElsewhere(text)) return [text];
    const name = isJsonObject(prompt) ? (prompt['label'] ?? prompt['id'] ?? '') : text;
    left.push({ test: null, what: `prompt ${JSON.stringify(name).slice(0, 80)}: it is in another file` });
    return [];
  });
}

function isElsewhere(text: string): boolean {
  return /^(file|exec|https?):\/\//.test(text) || /^\S+\.(txt|json|ya?ml|js|mjs|ts|py|md|csv|j2)$/.test(text);
}

function caseOf(
  id: string,
  prompt: string,
  test: JsonObject,
  note: (what: string) => void,
  options: AssertOptions,
): EvalCase | null {
  const vars = isJsonObject(test['vars']) ? test['vars'] : {};
  const fill = (text: string): string | null => fillText(text, vars);
  const asked = inputOf(prompt, vars);
  if (asked === null) return null;
  const { expected, rubric, left } = convertAsserts(listOf(test['assert']), fill, options);
  for (const what of left) note(`assert ${what}`);
  return {
    id,
    ...asked,
    expected,
    ...(rubric.length === 0 ? {} : { rubric: rubric.join('\n') }),
    tags: ['promptfoo'],
    metadata: { ...(isJsonObject(test['metadata']) ? test['metadata'] : {}), vars },
  };
}

const NAME = /\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}/g;

/** Null when a variable is missing or lies elsewhere, or the template has filters, conditions or loops. */
function fillText(text: string, vars: JsonObject): string | null {
  let missing = false;
  const filled = text.replace(NAME, (_, name: string) => {
    let value: Json | undefined = vars;
    for (const part of name.split('.')) {
      value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    }
    // A list of values is a test for each of them in promptfoo: that is not the same as a text.
    if (value === undefined || Array.isArray(value) || (typeof value === 'string' && isElsewhere(value)))
      missing = true;
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  });
  return missing || /\{\{|\{%/.test(text.replaceAll(NAME, '')) ? null : filled;
}

/** A prompt that is a JSON list of messages is a conversation, filled text by text: values cannot break out of it. */
function inputOf(prompt: string, vars: JsonObject): Pick<EvalCase, 'input' | 'messages'> | null {
  const parsed = prompt.trim().startsWith('[') ? tryJson(prompt) : null;
  if (Array.isArray(parsed)) {
    const messages: ChatMessage[] = [];
    for (const message of parsed) {
      const { role, content } = isJsonObject(message) ? message : {};
      if ((role !== 'system' && role !== 'user' && role !== 'assistant') || typeof content !== 'string') return null;
      const filled = fillText(content, vars);
      if (filled === null) return null;
      messages.push({ role, content: filled });
    }
    return messages.length === 0 ? null : { messages };
  }
  const input = fillText(prompt, vars);
  return input === null ? null : { input };
}

function idOf(test: JsonObject, at: number, promptAt: number | null, taken: Set<string>): string {
  const { description } = test;
  const base =
    typeof description === 'string' && description.trim() !== '' ? description.slice(0, 250) : `test-${at + 1}`;
  const name = promptAt === null ? base : `${base} (prompt ${promptAt + 1})`;
  let id = name;
  for (let n = 2; taken.has(id); n += 1) id = `${name} #${n}`;
  taken.add(id);
  return id;
}

function listOf(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
