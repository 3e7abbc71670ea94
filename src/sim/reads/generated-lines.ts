import { Buffer } from 'node:buffer';
import type { LogEntry } from '../requests/container-lines.ts';

/** A run of a container, as the input of its generated log. */
export interface GeneratedRun {
  /** Identifies the container. Each container has its own interval. */
  readonly seed: string;
  readonly startMs: number;
  /** Absent while the container runs. */
  readonly endMs?: number;
}

const shortestMs = 1_500;
const spreadMs = 3_500;

const messages: readonly ((n: number) => string)[] = [
  (n) => `level=info msg="request served" method=GET path=/v1/objects/${n % 97} status=200 ms=${3 + (n % 41)}`,
  (n) => `level=info msg="request served" method=GET path=/v1/search status=200 ms=${2 + (n % 29)}`,
  (n) => `level=info msg="request served" method=POST path=/v1/objects status=201 ms=${11 + (n % 83)}`,
  (n) => `level=debug msg="cache" hits=${900 + (n % 100)} misses=${n % 17}`,
  (n) => `level=info msg="batch written" rows=${100 + (n % 400)} ms=${20 + (n % 60)}`,
];
const first = 'level=info msg=starting';

/**
 * Generates the log of a container without written lines: one line every few seconds since its start, always the same lines. Nothing is
 * stored.
 *
 * @param from Number of the first wanted line, counted from 0.
 * @returns The lines up to now, at most the last 10,000 of a run, and the time of the next line. No such time if the run has ended.
 */
export function generatedLines(run: GeneratedRun, { from, nowMs }: { readonly from: number; readonly nowMs: number }): GeneratedLines {
  const { seed, startMs, endMs } = run;
  const hash = hashOf(seed);
  const periodMs = shortestMs + (hash % spreadMs);
  const until = Math.min(nowMs, endMs ?? nowMs);
  const count = until < startMs ? 0 : Math.floor((until - startMs) / periodMs) + 1;
  const entries: LogEntry[] = [];
  for (let n = Math.max(from, count - 10_000); n < count; n++) {
    const chance = mix(hash, n);
    entries.push({ timeMs: startMs + n * periodMs, nanos: chance % 1_000_000, bytes: Buffer.from(n === 0 ? first : textOf(chance)) });
  }
  return { entries, count, ...(endMs === undefined ? { nextMs: startMs + count * periodMs } : {}) };
}

export interface GeneratedLines {
  readonly entries: readonly LogEntry[];
  /** Number of lines since the start. */
  readonly count: number;
  readonly nextMs?: number;
}

/** Returns the text of a line. Some lines are warnings. */
function textOf(chance: number): string {
  const variation = chance >>> 8;
  if (variation % 23 === 0) return `level=warn msg="slow answer" upstream=storage ms=${800 + (variation % 700)}`;
  return messages[chance % messages.length]?.(variation) ?? '';
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

function mix(hash: number, n: number): number {
  let mixed = (hash + Math.imul(n, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
