import { createGrowingBytes } from './growing-bytes.ts';

/** Maximum bytes of a line. A longer line is split into several lines of this size. */
const maxPieceBytes = 256 * 1024;

/** Splits a log into its lines. A line may begin and end anywhere in the chunks. */
export interface LogLineCutter {
  /**
   * Returns the lines that end in this chunk, and full parts of longer lines, without `\n`. A line that also begins in this chunk uses the
   * memory of the chunk.
   */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** Bytes of the line that has begun but not ended. */
  readonly pendingBytes: number;
  /** Returns the bytes after the last line end: a line that was not written to its end. Undefined if there are none. */
  end(): Uint8Array | undefined;
}

/** Creates a cutter. A `\r` before the line end stays in the line. Empty lines count as lines. */
export function createLogLineCutter(maxBytes = maxPieceBytes): LogLineCutter {
  const pending = createGrowingBytes(maxBytes);
  const piecesOf = (chunk: Uint8Array, begin: number, end: number, into: Uint8Array[]): number => {
    let from = begin;
    while (pending.length + end - from > maxBytes) {
      const to = from + maxBytes - pending.length;
      pending.append(chunk, from, to);
      into.push(pending.takeAll());
      from = to;
    }
    return from;
  };
  return {
    get pendingBytes() {
      return pending.length;
    },
    push(chunk) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        const rest = piecesOf(chunk, from, end, lines);
        if (pending.length === 0) lines.push(chunk.subarray(rest, end));
        else {
          pending.append(chunk, rest, end);
          lines.push(pending.takeAll());
        }
        from = end + 1;
      }
      const rest = piecesOf(chunk, from, chunk.length, lines);
      if (rest < chunk.length) pending.append(chunk, rest, chunk.length);
      return lines;
    },
    end: () => (pending.length === 0 ? undefined : pending.takeAll()),
  };
}
