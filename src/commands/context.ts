/** What a command may touch of the process that runs it: passed in, so that commands can be tested in process. */
export interface CommandContext {
  env: Record<string, string | undefined>;
  /** Writes to standard output as it is; no newline is added. */
  stdout: (text: string) => void;
  /** Writes to standard error as it is; no newline is added. */
  stderr: (text: string) => void;
  /** Absolute folder relative paths of arguments are relative to. */
  cwd: string;
  /** True when standard output is a terminal: progress lines may be redrawn and coloured. */
  isTty: boolean;
  /** Width of the terminal; absent without one. */
  columns?: number | undefined;
}
