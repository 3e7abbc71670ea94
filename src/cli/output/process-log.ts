import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../../config/defaults.ts';
import type { Log } from '../../core/log.ts';

export interface ProcessLogOptions {
  readonly level: LogLevel;
  /** Takes whole lines. */
  readonly write: (line: string) => void;
  /** True: lines for people. False: JSON. */
  readonly isTerminal: boolean;
}

/**
 * The log of the process: one line per call, JSON for programs or text for people. `cluster` lines tell who joins, leaves and changes phase, `mirror`
 * lines how each kind is; what an outage of the whole cluster explains is told of its kinds at `debug` only.
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

/** The same log, whose info lines are only debug for as long as it is to be quiet: while the terminal shows the same in its own way. */
export function withQuietInfo(log: Log, isQuiet: () => boolean): Log {
  return { ...log, info: (fields, message) => (isQuiet() ? log.debug(fields, message) : log.info(fields, message)) };
}

/** The same log without what faults say, which is only debug: whoever asked is told of these with the answer. */
export function withQuietFaults(log: Log): Log {
  return { ...log, warn: (fields, message) => ('fault' in fields ? log.debug(fields, message) : log.warn(fields, message)) };
}

const colors: Readonly<Record<string, string>> = { debug: '\x1b[90m', info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' };
const reset = '\x1b[0m';

/** `14:03:07 warn  the message  key=value …`, with the stack of an error beneath. */
function readable(line: string): string {
  const { level, time, msg, error, err = error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const color = colors[String(level)] ?? '';
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = `${String(time).slice(11, 19)} ${color}${String(level).padEnd(5)}${reset} ${msg}`;
  const stack = (err as { stack?: string } | undefined)?.stack;
  return `${[head, ...pairs].join('  ')}\n${stack === undefined ? '' : `${stack}\n`}`;
}
