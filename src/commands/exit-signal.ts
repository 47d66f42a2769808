/** Ends a command with an exit code, after its clean-up has run. Not an error: nothing is printed. */
export class ExitSignal extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.name = 'ExitSignal';
    this.exitCode = exitCode;
  }
}
