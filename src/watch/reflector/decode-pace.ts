import type { Clock } from '../../core/clock.ts';

const sliceMs = 8;

/** How long a piece of work has kept the loop. */
interface DecodeSlice {
  /** True after 8 ms: rest before going on. */
  spent(): boolean;
}

/** Shares the loop's time among everything that decodes what clusters send. */
export interface DecodePace {
  begin(): DecodeSlice;
  /** Resolves after everybody else had a turn; of several who rest, one per turn of the loop, in order. */
  rest(): Promise<void>;
}

/** One per process: whoever decodes takes a slice of 8 ms at a time. */
export function createDecodePace(clock: Clock): DecodePace {
  const resting: (() => void)[] = [];
  let pumping = false;

  // One per turn: ten that go on in the same turn would keep the loop for ten slices.
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
