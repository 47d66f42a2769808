import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const entry = path.resolve(import.meta.dirname, '../dist/src/client.js');

/** `assay score` over recorded trajectories: no Temporal, no Postgres, no model, one core. */
export interface ScoreBenchResult {
  case: 'score-10k';
  trajectories: number;
  callsEach: number;
  wallS: number;
  /** User and system CPU of the process, start-up included. */
  cpuS: number;
  peakRssMb: number;
  trajectoriesPerCpuS: number;
  /** How fast this machine parsed JSON just before, megabytes a CPU second: to compare runs of a machine that is busy. */
  machineJsonMbPerS: number;
}

const TRAJECTORIES = 10_000;
const CALLS = 10;
/** Reports what the process used, on its way out. */
const REPORT = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\n'+JSON.stringify(process.resourceUsage())))`;

export async function measureScore(): Promise<ScoreBenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'assay-bench-score-'));
  try {
    const machineJsonMbPerS = jsonSpeed();
    writeWork(folder);
    const startedAt = performance.now();
    const usage = await run(folder);
    const wallS = (performance.now() - startedAt) / 1000;
    const cpuS = (usage.userCPUTime + usage.systemCPUTime) / 1e6;
    return {
      case: 'score-10k',
      trajectories: TRAJECTORIES,
      callsEach: CALLS,
      wallS: round(wallS),
      cpuS: round(cpuS),
      peakRssMb: Math.round(usage.maxRSS / 1024),
      trajectoriesPerCpuS: Math.round(TRAJECTORIES / cpuS),
      machineJsonMbPerS: Math.round(machineJsonMbPerS),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A case for each trajectory: ten expected calls of five tools, every match mode, a call in ten with a wrong argument. */
function writeWork(folder: string): void {
  const modes = ['strict', 'unordered', 'superset', 'in_order'];
  const cases: string[] = [];
  const recorded: string[] = [];
  for (let at = 0; at < TRAJECTORIES; at += 1) {
    const calls = Array.from({ length: CALLS }, (_, call) => ({
      tool: `tool_${(at * 7 + call * 3) % 5}`,
      args: { id: `o-${at}-${call}`, n: call, note: 'some text here', nested: { a: [1, 2, 3], b: true } },
    }));
    const expected = {
      calls,
      match: modes[at % 4],
      must_not_call: ['drop'],
      answer_contains: ['done'],
      max_tool_calls: 12,
    };
    cases.push(JSON.stringify({ id: `c-${at}`, input: 'do it', expected }));
    recorded.push(JSON.stringify({ caseId: `c-${at}`, trial: 1, messages: messagesOf(calls, at) }));
  }
  writeFileSync(path.join(folder, 'cases.jsonl'), `${cases.join('\n')}\n`);
  writeFileSync(path.join(folder, 'recorded.jsonl'), `${recorded.join('\n')}\n`);
}

function messagesOf(calls: { tool: string; args: { n: number } }[], at: number): object[] {
  const turns = calls.flatMap(({ tool, args }, call) => {
    const made = (at * 3 + call) % 10 === 0 ? { ...args, n: 99 } : args;
    const id = `k${call}`;
    return [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(made) } }],
      },
      { role: 'tool', tool_call_id: id, content: '{"ok":true}' },
    ];
  });
  return [{ role: 'user', content: 'do it' }, ...turns, { role: 'assistant', content: 'All done.' }];
}

async function run(folder: string): Promise<NodeJS.ResourceUsage> {
  const args = ['score', '--cases', 'cases.jsonl', '--trajectories', 'recorded.jsonl', '--out', 'scores.jsonl'];
  const child = spawn(process.execPath, ['--import', REPORT, entry, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`assay score ended with ${code}:\n${said}`);
  return JSON.parse(said.slice(said.lastIndexOf('\n') + 1)) as NodeJS.ResourceUsage;
}

function jsonSpeed(): number {
  const row = { id: 'x', n: 1, list: [1, 2, 3], inner: { text: 'text text', flag: true } };
  const text = JSON.stringify(Array.from({ length: 2_000 }, () => row));
  const rounds = 100;
  const before = process.cpuUsage();
  for (let at = 0; at < rounds; at += 1) JSON.parse(text);
  const { user } = process.cpuUsage(before);
  return (text.length * rounds) / user;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
