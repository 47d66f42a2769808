import { readdir, readFile } from 'node:fs/promises';
import { kill, platform } from 'node:process';

/** Variable in the environment of a program and of all it starts: tells, on Linux, what of it left its process group. */
export const MARK = 'ASSAY_PROCESS';

/** For /bin/sh: kills what has the mark `$0`, but the shell's own process. Finds nothing without /proc. */
export const KILL_MARKED = `
for found in $(grep -lsaF "${MARK}=$0" /proc/[0-9]*/environ); do
  found=\${found%/environ}
  [ "\${found#/proc/}" = $$ ] || kill -9 "\${found#/proc/}"
done`;

/** For /bin/sh: {@link KILL_MARKED}, then the process group `$1`. It may have the mark itself: what it was started by has. */
export const KILL_MARKED_AND_GROUP = `
unset ${MARK}
${KILL_MARKED}
kill -9 -"$1"`;

/** Passes over all processes for one request: what starts others while it is looked for is found by the next. */
const MOST_PASSES = 5;

/** A pass that has not begun: what it will look for, and what it found. */
let next: { marks: Set<string>; found: Promise<ReadonlySet<string>> } | null = null;
let current: Promise<unknown> = Promise.resolve();

/**
 * Kills every process whose {@link MARK} is `mark`, in whatever group or session it is. Requests that come together share
 * a pass over the processes. Does nothing where there is no /proc; a process that cleared its environment is not found.
 */
export async function killMarked(mark: string): Promise<void> {
  if (platform !== 'linux') return;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    next ??= beginPass();
    next.marks.add(mark);
    if (!(await next.found).has(mark)) return;
  }
}

function beginPass(): NonNullable<typeof next> {
  const marks = new Set<string>();
  const found = current.then(() => {
    next = null;
    return killThose(marks);
  });
  current = found;
  return { marks, found };
}

/** The marks that processes had, which are killed. */
async function killThose(marks: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const mark = await markOf(pid);
    if (mark === null || !marks.has(mark)) continue;
    found.add(mark);
    try {
      kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  return found;
}

/** Processes that are not ours to read, that have ended, or that are the kernel's. */
const UNREADABLE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'ENOENT', 'ESRCH']);

async function markOf(pid: number): Promise<string | null> {
  try {
    const variables = (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0');
    return variables.find((variable) => variable.startsWith(`${MARK}=`))?.slice(MARK.length + 1) ?? null;
  } catch (error) {
    if (UNREADABLE.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  }
}
