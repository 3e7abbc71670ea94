const quote = 0x22;
const backslash = 0x5c;

/** Where a scan stops. */
export interface ScanLimits {
  /** Stop past the bracket that closes down to this depth. */
  readonly floor: number;
  /** Stop past a `[` that opens at this depth; −1 for never. */
  readonly arrayAt: number;
}

/** Follows the nesting of JSON through chunks dealt anyhow. Brackets are counted, not matched by sort: whoever needs more parses. */
export interface Nesting {
  /** Brackets open so far. */
  readonly depth: number;
  /** The index past where a limit was met, or the chunk's length. */
  scan(chunk: Uint8Array, start: number, limits: ScanLimits): number;
}

export function createNesting(): Nesting {
  let depth = 0;
  let inString = false;
  let escaped = false;

  return {
    get depth() {
      return depth;
    },
    scan(chunk, start, { floor, arrayAt }) {
      // All state is local while it runs: this loop sees every byte of every list.
      const end = chunk.length;
      let level = depth;
      let within = inString;
      let i = escaped && start < end ? start + 1 : start;
      scanning: while (i < end) {
        if (!within) {
          const byte = chunk[i++] as number;
          if (byte !== quote) {
            // '[' and ']' differ from '{' and '}' by this one bit.
            const bracket = byte | 0x20;
            if (bracket === 0x7b) {
              if (level++ === arrayAt && byte === 0x5b) break;
            } else if (bracket === 0x7d && --level <= floor) break;
            continue;
          }
          within = true;
        }
        while (i < end) {
          const byte = chunk[i++] as number;
          if (byte === quote) {
            within = false;
            continue scanning;
          }
          if (byte === backslash) i++;
        }
      }
      depth = level;
      inString = within;
      escaped = i > end;
      return Math.min(i, end);
    },
  };
}
