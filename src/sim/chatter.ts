import { Buffer } from 'node:buffer';
import type { LogEntry } from './container-logs.ts';

/** A container's run, as far as what it says depends on it. */
export interface Speaker {
  /** Tells containers apart: each speaks in its own rhythm. */
  readonly seed: string;
  readonly startMs: number;
  /** Absent while it runs. */
  readonly endMs?: number;
}

const shortestMs = 1_500;
const spreadMs = 3_500;

const sayings: readonly ((n: number) => string)[] = [
  (n) => `level=info msg="request served" method=GET path=/cart/${n % 97} status=200 ms=${3 + (n % 41)}`,
  (n) => `level=info msg="request served" method=GET path=/items/${n % 883} status=200 ms=${2 + (n % 29)}`,
  (n) => `level=info msg="request served" method=POST path=/orders status=201 ms=${11 + (n % 83)}`,
  (n) => `level=debug msg="cache" hits=${900 + (n % 100)} misses=${n % 17}`,
  (n) => `level=info msg="batch written" rows=${100 + (n % 400)} ms=${20 + (n % 60)}`,
  (n) => `level=warn msg="slow answer" upstream=payments ms=${800 + (n % 700)}`,
];

/**
 * What a container that nobody wrote lines for says: one line every few seconds since its start, always the same ones. Nothing is kept of it.
 *
 * @param from The number of the first line wanted, counted from 0.
 * @returns The lines up to now, at most the last 10,000 of a run, and when the next one is due: never, once it has ended.
 */
export function chatter(speaker: Speaker, { from, nowMs }: { readonly from: number; readonly nowMs: number }): Chatter {
  const { seed, startMs, endMs } = speaker;
  const hash = hashOf(seed);
  const periodMs = shortestMs + (hash % spreadMs);
  const until = Math.min(nowMs, endMs ?? nowMs);
  const count = until < startMs ? 0 : Math.floor((until - startMs) / periodMs) + 1;
  const entries: LogEntry[] = [];
  for (let n = Math.max(from, count - 10_000); n < count; n++) {
    const text = n === 0 ? 'level=info msg=starting' : (sayings[mix(hash, n) % sayings.length]?.(mix(hash, n)) ?? '');
    entries.push({ timeMs: startMs + n * periodMs, nanos: mix(hash, n) % 1_000_000, bytes: Buffer.from(text) });
  }
  return { entries, count, ...(endMs === undefined ? { nextMs: startMs + count * periodMs } : {}) };
}

export interface Chatter {
  readonly entries: readonly LogEntry[];
  /** Of lines since the start. */
  readonly count: number;
  readonly nextMs?: number;
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

function mix(hash: number, n: number): number {
  return Math.imul((hash ^ n) >>> 0, 0x9e3779b1) >>> 8;
}
