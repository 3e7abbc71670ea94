import { growingBytes } from './growing-bytes.ts';

/** A longer line comes in pieces of this size. */
const maxPieceBytes = 256 * 1024;

/** Cuts a log into its lines, however the bytes are dealt. */
export interface LogCutter {
  /** The lines, and pieces of long ones, that end in this chunk: without `\n`. They share its memory where they lie in it whole. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** Of a line that has begun. */
  readonly pendingBytes: number;
  /** What stands after the last end of a line: a line that is not written whole yet. Undefined if that is nothing. */
  end(): Uint8Array | undefined;
}

/** A `\r` before the end stays: who decodes the line knows what it is. Empty lines are lines. */
export function logCutter(maxBytes = maxPieceBytes): LogCutter {
  const pending = growingBytes(maxBytes);
  const piecesOf = (chunk: Uint8Array, begin: number, end: number, into: Uint8Array[]): number => {
    let from = begin;
    while (pending.length + end - from > maxBytes) {
      const to = from + maxBytes - pending.length;
      pending.append(chunk, from, to);
      into.push(pending.take());
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
          lines.push(pending.take());
        }
        from = end + 1;
      }
      const rest = piecesOf(chunk, from, chunk.length, lines);
      if (rest < chunk.length) pending.append(chunk, rest, chunk.length);
      return lines;
    },
    end: () => (pending.length === 0 ? undefined : pending.take()),
  };
}
