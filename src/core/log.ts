/** One line of the log: a message and its fields. Fields hold neither token nor manifest nor secret. */
type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Where the stages report what an operator should read. `main` gives pino, tests give an array. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}

/** Says nothing. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
