import type { LogLineView } from './logs.ts';

/** A moment to the nanosecond: whole seconds of the epoch, and nanoseconds beyond. */
export interface LogInstant {
  readonly seconds: number;
  readonly nanos: number;
}

const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?(?:Z|[+-]\d{2}:\d{2})$/;

/** Reads RFC 3339 with up to nine digits of a second, as kubelets write it. Undefined if it is anything else. */
export function parseLogInstant(text: string): LogInstant | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, digits = ''] = match;
  const ms = Date.parse(digits === '' ? text : text.replace(`.${digits}`, ''));
  return Number.isNaN(ms) ? undefined : { seconds: ms / 1_000, nanos: Number(digits.padEnd(9, '0')) };
}

/** Below 0 if the first comes before the second. */
export function compareInstants(a: LogInstant, b: LogInstant): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * One line of a log that was asked for with times. What is no UTF-8 becomes U+FFFD; a `\r` before the end belongs to the end. Without `time`: the
 * rest of a line that came in pieces.
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
