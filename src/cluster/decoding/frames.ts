import { growingBytes } from './growing-bytes.ts';

/** No line of a watch and no item of a list may be longer: 16 MiB. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** Frames found so far; `broken` says why no more can follow, and is final. The frames before it are whole. */
export interface Framed {
  readonly frames: readonly Uint8Array[];
  readonly broken?: 'TOO_LARGE' | 'MALFORMED';
}

/** Cuts a stream of bytes into frames, however the bytes are dealt. */
export interface Framer {
  /** The frames that end in this chunk. They share its memory where they lie in it whole. */
  push(chunk: Uint8Array): Framed;
}

/**
 * Cuts a watch into its lines, without the newline. Empty lines are none. Half a line at the end is never handed out.
 *
 * `TOO_LARGE` as soon as a line is longer than `maxBytes`.
 */
export function lineFramer(maxBytes = maxFrameBytes): Framer {
  const pending = growingBytes(maxBytes);
  return {
    push(chunk) {
      const frames: Uint8Array[] = [];
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        if (pending.length > 0) {
          if (!pending.append(chunk, from, end)) return { frames, broken: 'TOO_LARGE' };
          frames.push(pending.take());
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
