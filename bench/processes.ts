import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

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
  const cpu = new Map<number, { name: string; first: number; last: number; peak: number; started: boolean }>();
  const sample = (starting: boolean): void => {
    const parents = new Map<number, number>();
    const seconds = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
      const pid = Number(entry);
      if (!Number.isInteger(pid)) continue;
      const stat = statOf(pid);
      if (stat === null) continue;
      parents.set(pid, stat.parent);
      seconds.set(pid, stat.cpuS);
    }
    for (const pid of parents.keys()) {
      for (const [name, root] of Object.entries(roots)) {
        let at: number | undefined = pid;
        while (at !== undefined && at > 1 && at !== root) at = parents.get(at);
        if (at !== root) continue;
        const now = seconds.get(pid) ?? 0;
        const known = cpu.get(pid);
        if (known === undefined)
          cpu.set(pid, { name, first: starting ? now : 0, last: now, peak: peakOf(pid), started: starting });
        else {
          known.last = now;
          known.peak = Math.max(known.peak, peakOf(pid));
        }
      }
    }
  };
  sample(true);
  const timer = setInterval(() => sample(false), 100);
  return {
    rss: (name) => Math.max(0, ...[...cpu.values()].filter((one) => one.name === name).map((one) => one.peak)),
    stop() {
      clearInterval(timer);
      sample(false);
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
