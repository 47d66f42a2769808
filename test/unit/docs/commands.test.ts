import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { registerCommands } from '../../../src/commands/index.ts';
import { NAMED_QUERIES } from '../../../src/db/named-queries.ts';

const read = (file: string): string => readFileSync(path.resolve(import.meta.dirname, '../../..', file), 'utf8');

/** Commands without subcommands, by their full name. */
function leaves(command: Command, name = ''): Map<string, Command> {
  const found = new Map<string, Command>();
  for (const sub of command.commands) {
    const full = `${name} ${sub.name()}`.trim();
    if (sub.commands.length === 0) found.set(full, sub);
    else for (const [key, leaf] of leaves(sub, full)) found.set(key, leaf);
  }
  return found;
}

function sectionOf(page: string, name: string): string {
  const start = page.search(new RegExp(`^### \`assay ${name}[ \`]`, 'm'));
  if (start === -1) return '';
  const end = page.slice(start + 4).search(/^##/m);
  return end === -1 ? page.slice(start) : page.slice(start, start + 4 + end);
}

describe('docs/cli.md', () => {
  const program = new Command('assay');
  registerCommands(program, { env: {}, cwd: '/', isTty: false, stdout: () => undefined, stderr: () => undefined });
  const page = read('docs/cli.md');

  test.each([...leaves(program)])('%s has a section with every option, and no option that is gone', (name, command) => {
    const section = sectionOf(page, name);
    expect(section, `docs/cli.md lacks "### \`assay ${name} …\`"`).not.toBe('');
    const options = command.options.map((option) => option.flags.replaceAll('|', '\\|'));
    const documented = [...section.matchAll(/^\| `(-[^`]+)`/gm)].map((match) => match[1]);
    expect(documented).toEqual(options);
  });
});

describe('docs/sql.md', () => {
  const page = read('docs/sql.md');
  test.each(NAMED_QUERIES.map((query) => [query.name, query.sql]))('%s is shown as it is run', (name, sql) => {
    expect(page).toContain(`### \`assay sql ${name}\``);
    expect(page).toContain(`\`\`\`sql\n${sql}\n\`\`\``);
  });
});
