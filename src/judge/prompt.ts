import { UserError } from '../core/errors.ts';
import { hashText } from '../core/hash.ts';
import { dataBlock } from './data-block.ts';

/** A judge prompt: text with `{{variable}}`, and the rule that precedes it. */
export interface Prompt {
  name: string;
  /** Where it was read from, for messages. */
  file: string;
  /** How to reply and what to judge; the system message. */
  instructions: string;
  /** The template of the user message. */
  template: string;
  /** SHA-256 over the data rule, the instructions and the template: stored with every verdict. */
  hash: string;
}

/** The prompts of one language by dimension, the user's own in place of the shipped ones. */
export interface PromptSet {
  language: 'en' | 'zh';
  byName: ReadonlyMap<string, Prompt>;
  /** What stands in place of a variable the case does not have, e.g. `(none)`. */
  none: string;
}

/** A line of only equals signs parts the instructions from the template of the user message. */
const PARTING = /^={5,}[ \t]*$/m;
const VARIABLE = /\{\{\s*([a-z][a-z0-9_]*)\s*\}\}/g;

/**
 * Reads the text of a prompt file.
 * @param dataRule the sentence that says delimited text is data; put before the instructions of every prompt
 * @throws UserError naming file and line: no parting line, a `{{` that is no variable, an unknown or missing variable
 */
export function parsePrompt(input: {
  name: string;
  file: string;
  text: string;
  dataRule: string;
  variables: readonly { name: string; required: boolean }[];
}): Prompt {
  const text = input.text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const parting = PARTING.exec(text);
  if (parting === null) {
    throw new UserError(`${input.file}: no line of equals signs (=====) parts the instructions from the data`, {
      hint: 'Put how to judge above such a line, and {{query}}, {{answer}} … below it.',
    });
  }
  const instructions = text.slice(0, parting.index).trim();
  const template = text.slice(parting.index + parting[0].length).trim();
  checkVariables(text, parting.index, input);
  return {
    name: input.name,
    file: input.file,
    instructions: `${input.dataRule.trim()}\n\n${instructions}`,
    template,
    hash: hashText([input.dataRule.trim(), instructions, template].join('\u0000')),
  };
}

function checkVariables(
  text: string,
  partingAt: number,
  input: { file: string; variables: readonly { name: string; required: boolean }[] },
): void {
  const known = input.variables.map((variable) => variable.name);
  const list = known.map((name) => `{{${name}}}`).join(', ');
  const used = new Set<string>();
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', at + 2)) {
    const place = `${input.file}:${text.slice(0, at).split('\n').length}`;
    const variable = new RegExp(VARIABLE.source, 'y');
    variable.lastIndex = at;
    const name = variable.exec(text)?.[1];
    if (name === undefined) {
      throw new UserError(`${place}: "{{" does not begin a variable`, { hint: `Variables of this prompt: ${list}` });
    }
    if (!known.includes(name)) {
      throw new UserError(`${place}: unknown variable {{${name}}}`, { hint: `Variables of this prompt: ${list}` });
    }
    if (at < partingAt) {
      throw new UserError(`${place}: {{${name}}} stands above the ===== line; data belongs below it`);
    }
    used.add(name);
  }
  const missing = input.variables.filter((variable) => variable.required && !used.has(variable.name));
  if (missing.length > 0) {
    const names = missing.map((variable) => `{{${variable.name}}}`).join(', ');
    throw new UserError(`${input.file}: missing variable ${names}: the judge would not see it`);
  }
}

/**
 * The user message: each variable replaced once by its content as a data block. What is put in is never read as a
 * template again. A variable without content becomes `none`.
 * @throws Error when the template names a variable that `content` does not have
 */
export function renderPrompt(prompt: Prompt, content: Readonly<Record<string, string | null>>, none: string): string {
  return prompt.template.replace(VARIABLE, (_match, name: string) => {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    if (value === undefined) throw new Error(`${prompt.file}: nothing was given for {{${name}}}`);
    return value === null ? none : dataBlock(name, value);
  });
}
