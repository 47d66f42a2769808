// A program that speaks the protocol of docs/agents.md, or breaks it: `options.mode` says how.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
};
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const start = await next();
const { options } = start;

const modes = {
  async default() {
    say({ type: 'tool_call', id: 'a', tool: 'get_order', args: { order: 88 } });
    const { result } = await next();
    process.stderr.write('looked it up\n');
    say({ type: 'result', answer: `Order is ${result.status}`, usage: { input: 7, output: 3 }, model: 'own' });
  },
  inspect: () => say({ type: 'result', answer: JSON.stringify(start) }),
  environment: () => say({ type: 'result', answer: JSON.stringify(process.env) }),
  async calls() {
    say({ type: 'tool_calls', calls: options.calls });
    say({ type: 'result', answer: JSON.stringify(await next()) });
  },
  own: () => say({ type: 'result', answer: 'done', tool_calls: options.calls }),
  async dialogue() {
    say({ type: 'result', answer: `1 ${start.input}` });
    for (let n = 2, turn = await next(); turn !== null; n += 1, turn = await next()) {
      say({ type: 'result', answer: `${n} ${turn.content}` });
    }
  },
  once: () => {
    say({ type: 'result', answer: `${start.messages.length} ${start.input}` });
    process.exit(0);
  },
  async endless() {
    for (;;) {
      say({ type: 'tool_call', tool: 'get_order', args: {} });
      await next();
    }
  },
  exit: () => {
    process.stderr.write('Traceback: no such model\n');
    process.exit(3);
  },
  late: () => {
    say({ type: 'result', answer: 'done' });
    process.exitCode = 4;
    void lines.return();
  },
  garbage: () => process.stdout.write('Loading model...\n'),
  list: () => say(['result']),
  unknown: () => say({ type: 'shout' }),
  nothing: () => say({ type: 'result' }),
  untyped: () => say({ output: 'a "b"' }),
  wait: async () => {
    while ((await next()) !== null);
    say({ type: 'result', answer: 'too late' });
  },
  ask: () => {
    say({ type: 'tool_call', id: 'a', tool: 'get_order', args: { order: 88 } });
    setInterval(() => undefined, 1000);
  },
  huge: () => {
    const pump = () => {
      while (process.stdout.write('x'.repeat(64 * 1024)));
      process.stdout.once('drain', pump);
    };
    pump();
  },
  noisy: () => {
    process.stderr.write('x'.repeat(200_000) + 'the end');
    say({ type: 'result', answer: 'ok' });
  },
  leak: () => {
    process.stderr.write(`key ${process.env.MY_KEY}\n`);
    say({ type: 'result', answer: `it is ${process.env.MY_KEY}` });
  },
  /** Dies after it has logged its key; `options.tail` more is logged after it. */
  leakAndDie: () => {
    process.stderr.write(`key ${process.env.MY_KEY}${'x'.repeat(options.tail)}`, () => {
      if (options.exit !== undefined) process.exit(options.exit);
      process.kill(process.pid, 'SIGKILL');
    });
  },
  killed: () => process.kill(process.pid, 'SIGKILL'),
  /** Hangs with a child of its own, and ignores what it can. */
  hang: () => {
    process.on('SIGTERM', () => undefined);
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    writeFileSync(options.pids, JSON.stringify([process.pid, child.pid]));
    setInterval(() => undefined, 1000);
  },
  /** Hangs or answers, with a child in a session of its own. */
  detach: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    writeFileSync(options.pids, JSON.stringify([child.pid]));
    if (options.hang) return void setInterval(() => undefined, 1000);
    child.unref();
    say({ type: 'result', answer: 'done' });
  },
  /** Blank lines, which say nothing. */
  blank: () =>
    process.stdout.write(`${'\n'.repeat(options.lines)}${JSON.stringify({ type: 'result', answer: 'done' })}\n`),
  /** Answers, and leaves a child that holds its output open. */
  leave: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    writeFileSync(options.pids, JSON.stringify([child.pid]));
    say({ type: 'result', answer: 'done' });
    process.exit(0);
  },
};
await modes[options.mode ?? 'default']();
