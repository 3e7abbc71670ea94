import type { Clock } from '../../core/clock.ts';

const sliceMs = 8;

/** Measures the time since `begin`. */
interface DecodeSlice {
  /** True after 8 ms. The work must then call `rest` before it continues. */
  spent(): boolean;
}

/** Shares the event loop among everything that decodes data of clusters. */
export interface DecodePace {
  begin(): DecodeSlice;
  /** Resolves in a later event-loop turn. Of several callers one resolves in each turn, in order. */
  rest(): Promise<void>;
}

/** Creates the `DecodePace` that all clusters share. The limit holds only if the process has just one. */
export function createDecodePace(clock: Clock): DecodePace {
  const resting: (() => void)[] = [];
  let pumping = false;

  // Resolves one caller per turn. Ten callers in one turn would block the event loop for ten slices.
  function pump(): void {
    resting.shift()?.();
    if (resting.length === 0) pumping = false;
    else setImmediate(pump);
  }

  return {
    begin() {
      const sinceMs = clock.monotonic();
      return { spent: () => clock.monotonic() - sinceMs >= sliceMs };
    },
    rest: () =>
      new Promise((resolve) => {
        resting.push(resolve);
        if (pumping) return;
        pumping = true;
        setImmediate(pump);
      }),
  };
}
