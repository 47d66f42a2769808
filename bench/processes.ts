import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
const SCAN_MS = 1_000;
const SAMPLE_MS = 100;

/** CPU seconds and peak memory of a process and its descendants, from /proc (Linux). */
export interface Usage {
  cpuS: number;
  peakRssMb: number;
}

function statOf(pid: number): { parent: number; cpuS: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

function peakOf(pid: number): number {
  try {
    const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return match === null ? 0 : Number(match[1]) / 1024;
  } catch {
    return 0;
  }
}

/** Watches processes by name while something runs; descendants count to their ancestor. */
export function watchProcesses(roots: Record<string, number>): {
  stop(): Record<string, Usage>;
  rss(name: string): number;
} {
  const cpu = new Map<number, { name: string; first: number; last: number; peak: number }>();
  const look = (pid: number, name: string, { cpuS, starting }: { cpuS: number; starting: boolean }): void => {
    const known = cpu.get(pid);
    if (known === undefined) cpu.set(pid, { name, first: starting ? cpuS : 0, last: cpuS, peak: peakOf(pid) });
    else known.last = cpuS;
  };
  /** Every process of the machine: finds descendants that are new. */
  const scan = (starting: boolean): void => {
    const stats = new Map<number, { parent: number; cpuS: number }>();
    for (const entry of readdirSync('/proc')) {
      const pid = Number(entry);
      const stat = Number.isInteger(pid) ? statOf(pid) : null;
      if (stat !== null) stats.set(pid, stat);
    }
    for (const [pid, { cpuS }] of stats) {
      for (const [name, root] of Object.entries(roots)) {
        let at: number | undefined = pid;
        while (at !== undefined && at > 1 && at !== root) at = stats.get(at)?.parent;
        if (at === root) look(pid, name, { cpuS, starting });
      }
    }
  };
  /** Those that are known. Cheap: it runs on the cores that are measured. */
  const sample = (): void => {
    for (const [pid, one] of cpu) {
      const stat = statOf(pid);
      if (stat !== null) look(pid, one.name, { cpuS: stat.cpuS, starting: false });
      one.peak = Math.max(one.peak, peakOf(pid));
    }
  };
  scan(true);
  const timers = [setInterval(() => scan(false), SCAN_MS), setInterval(sample, SAMPLE_MS)];
  return {
    rss: (name) => Math.max(0, ...[...cpu.values()].filter((one) => one.name === name).map((one) => one.peak)),
    stop() {
      for (const timer of timers) clearInterval(timer);
      scan(false);
      sample();
      const result: Record<string, Usage> = {};
      for (const name of Object.keys(roots)) {
        const mine = [...cpu.values()].filter((one) => one.name === name);
        result[name] = {
          cpuS: Math.round(mine.reduce((sum, one) => sum + one.last - one.first, 0) * 100) / 100,
          peakRssMb: Math.round(Math.max(0, ...mine.map((one) => one.peak))),
        };
      }
      return result;
    },
  };
}
