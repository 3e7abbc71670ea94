import type { Fault } from '../../core/faults.ts';
import type { LogLineView } from './logs.ts';

/** A message that a reader of followed logs has not taken yet. Targets are compared by identity. */
export type QueuedLog<Target extends object> = { readonly target: Target; readonly dropped: number } & (
  | { readonly type: 'LINES'; readonly lines: readonly LogLineView[] }
  | { readonly type: 'ENDED' }
  | { readonly type: 'FAILED'; readonly fault: Fault }
);

/** Maximum number of lines in a message. Its bytes are bounded too, because a message is sent in one piece. */
const maxLinesOfMessage = 500;
const maxBytesOfMessage = 256 * 1024;
/** The bytes that a line or a message needs in addition to its text. */
const overheadBytes = 100;
const defaultMaxBytes = 1024 * 1024;

interface Pending<Target extends object> {
  readonly target: Target;
  readonly type: 'LINES' | 'ENDED' | 'FAILED';
  readonly fault: Fault | undefined;
  readonly lines: LogLineView[];
  /** The index of the first line that was not dropped. */
  head: number;
  bytes: number;
  dropped: number;
}

interface Lane<Target extends object> {
  readonly pending: Pending<Target>[];
  bytes: number;
}

/**
 * Log lines that wait for a reader, in order for each target. Holds at most 1 MiB, by the length of the texts. Beyond that, the oldest lines
 * of the target with the largest backlog are dropped. Their number is in `dropped` of the message that would have had these lines, or else of
 * the next message of the target.
 */
export class LogQueue<Target extends object> {
  readonly #maxBytes: number;
  readonly #lanes = new Map<Target, Lane<Target>>();
  readonly #order = new Set<Pending<Target>>();
  #bytes = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#order.size === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True if the queue exceeds its limit although it has no line left to drop. */
  get isOverfull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  push(target: Target, lines: readonly LogLineView[]): void {
    for (const line of lines) {
      const bytes = line.text.length + overheadBytes;
      const batch = this.#openBatch(target);
      batch.lines.push(line);
      this.#weigh(batch, bytes);
    }
    while (this.#bytes > this.#maxBytes && this.#dropOldest());
  }

  /** Adds a message after all lines of the target. */
  addMessage(target: Target, message: { readonly type: 'ENDED' } | { readonly type: 'FAILED'; readonly fault: Fault }): void {
    const { pending } = this.#laneOf(target);
    const fault = message.type === 'FAILED' ? message.fault : undefined;
    const added: Pending<Target> = { target, type: message.type, fault, lines: [], head: 0, bytes: 0, dropped: 0 };
    pending.push(added);
    this.#order.add(added);
    this.#weigh(added, overheadBytes);
    while (this.#bytes > this.#maxBytes && this.#dropOldest());
  }

  take(): QueuedLog<Target> | undefined {
    for (const first of this.#order) {
      this.#remove(first);
      const { target, dropped, fault, type, lines, head } = first;
      if (type === 'LINES') return { type, target, dropped, lines: head === 0 ? lines : lines.slice(head) };
      return fault === undefined ? { type: 'ENDED', target, dropped } : { type: 'FAILED', target, dropped, fault };
    }
    return undefined;
  }

  clear(): void {
    this.#lanes.clear();
    this.#order.clear();
    this.#bytes = 0;
  }

  #laneOf(target: Target): Lane<Target> {
    const known = this.#lanes.get(target);
    if (known !== undefined) return known;
    const made: Lane<Target> = { pending: [], bytes: 0 };
    this.#lanes.set(target, made);
    return made;
  }

  /** Returns the last batch of the target if it has room for another line. Otherwise adds a batch. */
  #openBatch(target: Target): Pending<Target> {
    const { pending } = this.#laneOf(target);
    const last = pending.at(-1);
    if (last?.type === 'LINES' && last.lines.length < maxLinesOfMessage && last.bytes < maxBytesOfMessage) return last;
    const batch: Pending<Target> = { target, type: 'LINES', fault: undefined, lines: [], head: 0, bytes: 0, dropped: 0 };
    pending.push(batch);
    this.#order.add(batch);
    return batch;
  }

  #weigh(batch: Pending<Target>, bytes: number): void {
    batch.bytes += bytes;
    this.#laneOf(batch.target).bytes += bytes;
    this.#bytes += bytes;
  }

  #remove(batch: Pending<Target>): void {
    const lane = this.#laneOf(batch.target);
    lane.pending.splice(lane.pending.indexOf(batch), 1);
    this.#order.delete(batch);
    this.#weigh(batch, -batch.bytes);
    if (lane.pending.length === 0) this.#lanes.delete(batch.target);
  }

  /**
   * Drops lines of the target with the most waiting bytes. They are of its oldest batch, which is emptied at most: the caller calls again
   * while the queue exceeds its limit. Returns false if no target has a line to drop.
   */
  #dropOldest(): boolean {
    const batch = this.#oldestOfLongest();
    if (batch === undefined) return false;
    while (this.#bytes > this.#maxBytes && batch.head < batch.lines.length) {
      this.#weigh(batch, -((batch.lines[batch.head]?.text.length ?? 0) + overheadBytes));
      batch.head++;
      batch.dropped++;
    }
    if (batch.head === batch.lines.length) this.#handOn(batch);
    return true;
  }

  #oldestOfLongest(): Pending<Target> | undefined {
    let longest: { readonly batch: Pending<Target>; readonly bytes: number } | undefined;
    for (const { pending, bytes } of this.#lanes.values()) {
      if (longest !== undefined && bytes <= longest.bytes) continue;
      const batch = pending.find(({ type, head, lines }) => type === 'LINES' && head < lines.length);
      if (batch !== undefined) longest = { batch, bytes };
    }
    return longest?.batch;
  }

  /**
   * Removes a batch whose lines were all dropped, and adds their number to the next message of the same log. If there is no next message, the
   * empty batch stays, because the reader must get the number.
   */
  #handOn(batch: Pending<Target>): void {
    const { pending } = this.#laneOf(batch.target);
    const next = pending[pending.indexOf(batch) + 1];
    if (next === undefined) {
      batch.lines.length = 0;
      batch.head = 0;
      return;
    }
    next.dropped += batch.dropped;
    this.#remove(batch);
  }
}
