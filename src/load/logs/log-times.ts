import type { LogLineView } from './logs.ts';

/** A moment with nanoseconds: whole Unix seconds, and the nanoseconds since that second. */
export interface LogInstant {
  readonly seconds: number;
  readonly nanos: number;
}

const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses RFC 3339 with up to nine digits of a second, as kubelets write it. Undefined for any other text. */
export function parseLogInstant(text: string): LogInstant | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, digits = ''] = match;
  const ms = Date.parse(digits === '' ? text : text.replace(`.${digits}`, ''));
  return Number.isNaN(ms) ? undefined : { seconds: ms / 1_000, nanos: Number(digits.padEnd(9, '0')) };
}

/** Compares two moments: negative if the first is before the second, 0 if they are equal. */
export function compareInstants(a: LogInstant, b: LogInstant): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Parses one line of a log that was requested with times. Bytes that are not UTF-8 become U+FFFD. A `\r` at the end is part of the line
 * break. Without `time`, the line continues the line before it.
 */
export function parseLogLine(bytes: Uint8Array): LogLineView {
  const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
  const whole = decoder.decode(bytes.subarray(0, end));
  const space = whole.indexOf(' ');
  const time = space < 0 ? whole : whole.slice(0, space);
  if (!pattern.test(time)) return { text: whole };
  return { time, text: space < 0 ? '' : whole.slice(space + 1) };
}

const carriageReturn = 0x0d;
