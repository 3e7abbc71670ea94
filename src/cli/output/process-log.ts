import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../../config/defaults.ts';
import type { Log } from '../../core/log.ts';

export interface ProcessLogOptions {
  readonly level: LogLevel;
  /** Writes one whole line. */
  readonly write: (line: string) => void;
  /** True: lines for people. False: JSON. */
  readonly isTerminal: boolean;
}

/**
 * Creates the log of the process: one line per call, JSON for programs or text for people.
 *
 * `cluster` lines report clusters that join, leave or change phase. `mirror` lines report the state of each kind. While a whole cluster is
 * down, the lines of its kinds are logged at `debug` only.
 */
export function createProcessLog({ level, write, isTerminal }: ProcessLogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    { write: isTerminal ? (line: string) => write(readable(line)) : write },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/** Returns a log that writes info lines at `debug` while `isQuiet` returns true, because the terminal shows the same facts. */
export function withQuietInfo(log: Log, isQuiet: () => boolean): Log {
  return { ...log, info: (fields, message) => (isQuiet() ? log.debug(fields, message) : log.info(fields, message)) };
}

/** Returns a log that writes warnings about faults at `debug`, because the command prints faults with the answer. */
export function withQuietFaults(log: Log): Log {
  return { ...log, warn: (fields, message) => ('fault' in fields ? log.debug(fields, message) : log.warn(fields, message)) };
}

const colors: Readonly<Record<string, string>> = { debug: '\x1b[90m', info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' };
const reset = '\x1b[0m';

/** Formats a line as `14:03:07 warn  the message  key=value …`, with the stack of an error below. */
function readable(line: string): string {
  const { level, time, msg, error, err = error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const color = colors[String(level)] ?? '';
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = `${String(time).slice(11, 19)} ${color}${String(level).padEnd(5)}${reset} ${msg}`;
  const stack = (err as { stack?: string } | undefined)?.stack;
  return `${[head, ...pairs].join('  ')}\n${stack === undefined ? '' : `${stack}\n`}`;
}
