/** Writes one line of the log, from a message and its fields. Fields hold no token, manifest or secret. */
type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The log of the process. `main` passes pino, tests pass an array. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}

/** A log that discards every line. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
