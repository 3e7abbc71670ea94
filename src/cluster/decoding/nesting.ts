import { pastManagedFields } from './managed-fields.ts';

const quote = 0x22;
const backslash = 0x5c;
const managedFields = Buffer.from('"managedFields":[{');

/** Where a scan stops. */
interface ScanLimits {
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

/** Looks at every byte but those of managedFields, a third of most objects, which it passes in one step where it can. */
export function createNesting(): Nesting {
  const shortcuts = createShortcuts();
  const state: ScanState = { depth: 0, inString: false, stopped: false };
  let escaped = false;
  return {
    get depth() {
      return state.depth;
    },
    scan(chunk, start, limits) {
      let at = escaped ? start + 1 : start;
      state.stopped = false;
      while (at < chunk.length && !state.stopped) {
        const keyAt = shortcuts.next(chunk, at);
        at = run(state, chunk, { start: at, end: Math.min(keyAt, chunk.length), limits });
        if (state.stopped || at !== keyAt) continue;
        const past = shortcuts.past(keyAt);
        at = past < 0 ? run(state, chunk, { start: at, end: at + 1, limits }) : past;
      }
      escaped = at > chunk.length;
      return Math.min(at, chunk.length);
    },
  };
}

interface ScanState {
  depth: number;
  inString: boolean;
  stopped: boolean;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly limits: ScanLimits;
}

/**
 * Runs to the end of the stretch, or past the bracket where a limit is met. One past the end if a backslash stood before it.
 *
 * Every byte of every list goes through here, so its shape was measured: a loop of one state machine takes twice as long.
 */
function run(state: ScanState, chunk: Uint8Array, { start, end, limits }: Stretch): number {
  const { floor, arrayAt } = limits;
  let level = state.depth;
  let within = state.inString;
  let i = start;
  while (i < end && within) {
    const byte = chunk[i++] as number;
    if (byte === quote) within = false;
    else if (byte === backslash) i++;
  }
  while (i < end && !within) {
    const byte = chunk[i++] as number;
    if (byte === quote) {
      within = true;
      while (i < end) {
        const inside = chunk[i++] as number;
        if (inside === quote) {
          within = false;
          break;
        }
        if (inside === backslash) i++;
      }
      continue;
    }
    // '[' and ']' differ from '{' and '}' by this one bit.
    const bracket = byte | 0x20;
    if (bracket === 0x7b) {
      if (level++ === arrayAt && byte === 0x5b) {
        state.stopped = true;
        break;
      }
    } else if (bracket === 0x7d && --level <= floor) {
      state.stopped = true;
      break;
    }
  }
  state.depth = level;
  state.inString = within;
  return i;
}

interface Shortcuts {
  /** Where the next key `managedFields` may stand, its quote; Infinity if there is none. */
  next(chunk: Uint8Array, from: number): number;
  /** Past the value of that key; −1 if that is not certain. */
  past(keyAt: number): number;
}

/** Each chunk is searched once, however many scans it takes. */
function createShortcuts(): Shortcuts {
  let searched: Buffer = Buffer.alloc(0);
  let source: Uint8Array | undefined;
  let found = -1;
  return {
    next(chunk, from) {
      if (chunk !== source) {
        source = chunk;
        searched = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        found = -1;
      }
      if (found < from) {
        found = searched.indexOf(managedFields, from);
        if (found < 0) found = Number.POSITIVE_INFINITY;
      }
      return found;
    },
    past: (keyAt) => pastManagedFields(searched, keyAt + managedFields.length - 2),
  };
}
