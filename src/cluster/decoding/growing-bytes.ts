/**
 * Bytes collected from pieces, up to a bound. Doubles its room, so that pieces of one byte cost no more than their bytes.
 */
export interface GrowingBytes {
  readonly length: number;
  /** Copies a part of `chunk` to the end. False, and nothing appended, if that passed the bound. */
  append(chunk: Uint8Array, from: number, to: number): boolean;
  /** The last bytes, at most so many, as they stand now. */
  tail(maxLength: number): Buffer;
  /** All of it; it belongs to the caller, and the next piece begins anew. */
  take(): Buffer;
}

export function growingBytes(maxBytes: number): GrowingBytes {
  let room = Buffer.alloc(0);
  let length = 0;
  let lastLength = 0;
  return {
    get length() {
      return length;
    },
    append(chunk, from, to) {
      const needed = length + to - from;
      if (needed > maxBytes) return false;
      if (needed > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * room.length, lastLength + (lastLength >> 2)));
        room.copy(larger, 0, 0, length);
        room = larger;
      }
      room.set(chunk.subarray(from, to), length);
      length = needed;
      return true;
    },
    tail: (maxLength) => room.subarray(Math.max(0, length - maxLength), length),
    take() {
      const taken = room.subarray(0, length);
      // What is collected next is most often about as long: one allocation then, and no second copy.
      lastLength = Math.min(length, 65_536);
      room = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
