/** The exit codes of the process. */
export const exitCodes = {
  good: 0,
  /** The command line was valid, but the work could not be done or did not succeed. Also the code of a crash. */
  failed: 1,
  /** The command line is invalid, or no gateway can be reached. */
  refused: 2,
  /** No object was found in the clusters that answered, and other clusters did not answer. */
  unknown: 3,
  /** The code that shells use for a process ended by SIGINT. */
  interrupted: 130,
  /** The code for SIGPIPE: the reader of the output has gone. */
  unread: 141,
  /** The code for SIGTERM. */
  terminated: 143,
} as const;

/** Ends a command with one line for the user and an exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
