import { createGrowingBytes } from './growing-bytes.ts';

/** Maximum bytes of a line of a watch and of an item of a list: 16 MiB. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** The complete frames that one call found. If `broken` is set, it is the reason why the framer returns no further frames. */
export interface FramingResult {
  readonly frames: readonly Uint8Array[];
  readonly broken?: 'TOO_LARGE' | 'MALFORMED';
}

/** Splits a stream of bytes into frames: lines of a watch, or items of a list. A frame may begin and end anywhere in the chunks. */
export interface Framer {
  /** Returns the frames that end in this chunk. A frame that also begins in this chunk uses the memory of the chunk. */
  push(chunk: Uint8Array): FramingResult;
}

/**
 * Creates a framer that splits a watch into its lines, without the newlines. Empty lines are skipped. An unfinished line at the end is
 * never returned.
 *
 * `broken` is `TOO_LARGE` as soon as a line is longer than `maxBytes`.
 */
export function createLineFramer(maxBytes = maxFrameBytes): Framer {
  const pending = createGrowingBytes(maxBytes);
  return {
    push(chunk) {
      const frames: Uint8Array[] = [];
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        if (pending.length > 0) {
          if (!pending.append(chunk, from, end)) return { frames, broken: 'TOO_LARGE' };
          frames.push(pending.takeAll());
        } else if (end - from > maxBytes) {
          return { frames, broken: 'TOO_LARGE' };
        } else if (end > from) {
          frames.push(chunk.subarray(from, end));
        }
        from = end + 1;
      }
      if (from < chunk.length && !pending.append(chunk, from, chunk.length)) return { frames, broken: 'TOO_LARGE' };
      return { frames };
    },
  };
}
