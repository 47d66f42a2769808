import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { registerCommands } from '../../../src/commands/index.ts';
import { assay } from './context.ts';

const COMMANDS = (
  'init lint run schedule status resume retry pause unpause cancel delete list show report gate baseline sql ' +
  'compare rescore review calibrate import export score up serve worker db doctor mock-model'
).split(' ');

function registered(): Command {
  const program = new Command('assay');
  registerCommands(program, { env: {}, cwd: '/', isTty: false, stdout: () => undefined, stderr: () => undefined });
  return program;
}

describe('help', () => {
  test('no line written by hand is wider than 120 columns', async () => {
    for (const name of COMMANDS) {
      const { out } = await assay(name, '--help');
      expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
    }
  });

  test('lists every command and the exit codes', async () => {
    const { code, out } = await assay('--help');
    expect(code).toBe(0);
    expect(
      registered()
        .commands.map((command) => command.name())
        .sort(),
    ).toEqual([...COMMANDS].sort());
    for (const name of COMMANDS) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(out).toContain('Exit codes:');
  });

  test.each(
    'resume retry pause unpause cancel delete status list show report gate baseline sql schedule worker run'.split(' '),
  )('%s --help has examples and exit codes', async (name) => {
    const { code, out } = await assay(name, '--help');
    expect(code).toBe(0);
    expect(out).toMatch(/Examples:\n {2}\$ /);
    expect(out).toContain('Exit codes:');
  });

  test('every option and argument is described', () => {
    const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
    for (const command of all(registered())) {
      if (command.name() !== 'assay') expect(command.description(), command.name()).not.toBe('');
      for (const option of command.options)
        expect(option.description, `${command.name()} ${option.flags}`).not.toBe('');
      for (const argument of command.registeredArguments) {
        expect(argument.description, `${command.name()} ${argument.name()}`).not.toBe('');
      }
    }
  });

  test('wrong usage ends with 2 and names the option', async () => {
    expect(await assay('run', 'suite.yaml', '--trials', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "error: option '--trials <n>' argument 'x' is invalid. Expected a whole number",
      ) as string,
    });
    expect((await assay('resume')).err).toContain("missing required argument 'id'");
    expect((await assay('statsu')).err).toContain('Did you mean status?');
    expect((await assay('nope')).code).toBe(2);
    expect((await assay('schedule', 'create', 'x', 'y', '--cron', '* * * * *', '--overlap', 'no')).code).toBe(2);
  });

  test.each([
    [['prune', '--help'], "unknown command 'prune'", 'Did you mean one of pause, run?'],
    [['-h', 'prune'], "unknown command 'prune'", 'Did you mean one of pause, run?'],
    [['help', 'statsu'], "unknown command 'statsu'", 'Did you mean status?'],
    [['schedule', 'lst', '-h'], "unknown command 'lst'", 'Did you mean list?'],
    [['schedule', 'help', 'lst'], "unknown command 'lst'", 'Did you mean list?'],
    [['help', 'schedule', 'lst'], "unknown command 'lst'", 'Did you mean list?'],
  ])('help about a command that does not exist: %j', async (args, error, suggestion) => {
    const { code, out, err } = await assay(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(error);
    expect(err).toContain(suggestion);
  });

  test.each([
    [['help'], 'Usage: assay [options] [command]'],
    [['help', 'run'], 'Usage: assay run'],
    [['schedule', '--help'], 'Usage: assay schedule'],
    [['schedule', 'list', '--help'], 'Usage: assay schedule list'],
    [['help', 'schedule'], 'Usage: assay schedule'],
    [['run', 'help.yaml', '--help'], 'Usage: assay run'],
  ])('help about one that does: %j', async (args, usage) => {
    expect(await assay(...args)).toMatchObject({ code: 0, out: expect.stringContaining(usage) as string });
  });

  test('nothing heavy is loaded before a command runs', () => {
    const heavy = new Set<string>();
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, names = '', from = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (?!type )([^;]*?) from '([^']+)';/gms,
      )) {
        const named = /^\{([^}]*)\}$/s
          .exec(names)?.[1]
          ?.split(',')
          .filter((name) => name.trim() !== '');
        if (named?.every((name) => name.trim().startsWith('type ')) === true) continue;
        if (from.startsWith('.')) visit(path.resolve(path.dirname(file), from));
        else if (!from.startsWith('node:')) heavy.add(from);
      }
    };
    visit(path.resolve(import.meta.dirname, '../../../src/client.ts'));
    expect(seen.size).toBeGreaterThan(COMMANDS.length);
    expect([...heavy]).toEqual(['commander']);
  });
});
