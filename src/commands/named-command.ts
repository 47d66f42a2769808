import type { Command } from 'commander';

/**
 * Commander answers `--help` and `help` before it looks at the name it is asked about, and prints the help of the whole.
 * @param args of the command line
 * @returns the words up to a name that is no command, for Commander to say so; else `args` as they are.
 */
export function upToUnknownCommand(program: Command, args: readonly string[]): readonly string[] {
  let command = program;
  const path: string[] = [];
  for (const word of args) {
    if (['help', '--help', '-h'].includes(word)) continue;
    // An option: those of a group are its own to refuse.
    if (command.commands.length === 0 || word.startsWith('-')) return args;
    path.push(word);
    const named = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (named === undefined) return path;
    command = named;
  }
  return args;
}
