/** What the shell is told. */
export const exitCodes = {
  good: 0,
  /** It was asked rightly, and could not be done or did not come true; of the process itself: a bug. */
  failed: 1,
  /** The command line cannot be understood, or there is no gateway to ask. */
  refused: 2,
  /** Nothing was found in the clusters that answered, and other clusters did not answer. */
  unknown: 3,
  /** As a shell tells of what SIGINT ended. */
  interrupted: 130,
  /** Of SIGPIPE: nobody reads the output any more. */
  unread: 141,
  /** Of SIGTERM. */
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
