import type { Clock } from '../../core/clock.ts';

/** Milliseconds for all decoding in one event-loop turn. */
const turnMs = 8;

/**
 * Milliseconds of a slice that begins when the time of the turn is used up. An event of a watch needs less, so it never waits behind the
 * lists of other clusters.
 */
const lateMs = 0.2;

/** Measures the time since `begin`. */
interface DecodeSlice {
  /** True once the time of the slice is used up. The work must then call `rest` before it continues. */
  spent(): boolean;
}

/** Shares the event loop among everything that decodes data of clusters. */
export interface DecodePace {
  /**
   * Begins a slice. All slices of one event-loop turn share 8 ms. A slice of `events` that begins later in the turn has 0.2 ms, and a slice of a `list`
   * has none: with 200 lists at once, 0.2 ms for each would hold the event loop for 40 ms.
   */
  begin(content: 'events' | 'list'): DecodeSlice;
  /** Resolves in a later event-loop turn. Of several callers one resolves in each turn, in order. */
  rest(): Promise<void>;
}

/** Creates the `DecodePace` that all clusters share. The limit holds only if the process has just one. */
export function createDecodePace(clock: Pick<Clock, 'monotonic'>): DecodePace {
  const resting: (() => void)[] = [];
  let pumping = false;
  /** The end of the slices of this event-loop turn. Undefined before the first one. */
  let turnEndsMs: number | undefined;

  // Resolves one caller per turn. Ten callers in one turn would block the event loop for ten slices.
  function pump(): void {
    turnEndsMs = undefined;
    resting.shift()?.();
    if (resting.length === 0) pumping = false;
    else setImmediate(pump);
  }

  function endOfTurn(nowMs: number): number {
    if (turnEndsMs !== undefined) return turnEndsMs;
    turnEndsMs = nowMs + turnMs;
    setImmediate(() => {
      turnEndsMs = undefined;
    });
    return turnEndsMs;
  }

  return {
    begin(content) {
      const nowMs = clock.monotonic();
      const turnEnd = endOfTurn(nowMs);
      const endsMs = content === 'list' ? turnEnd : Math.max(turnEnd, nowMs + lateMs);
      return { spent: () => clock.monotonic() >= endsMs };
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
