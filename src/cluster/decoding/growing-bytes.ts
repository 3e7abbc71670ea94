/** Collects bytes up to a limit. The buffer doubles when it is full, so that many small appends stay cheap. */
export interface GrowingBytes {
  readonly length: number;
  /** Appends a part of `chunk`. Returns false and appends nothing if the limit would be passed. */
  append(chunk: Uint8Array, from: number, to: number): boolean;
  /** Returns the last bytes, at most `maxLength`. */
  tail(maxLength: number): Buffer;
  /** Returns all bytes and starts anew. The caller may keep the memory. */
  takeAll(): Buffer;
}

export function createGrowingBytes(maxBytes: number): GrowingBytes {
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
    takeAll() {
      const taken = room.subarray(0, length);
      // The next content usually has a similar length. A buffer that begins with about this length then need not grow.
      lastLength = Math.min(length, 65_536);
      room = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
