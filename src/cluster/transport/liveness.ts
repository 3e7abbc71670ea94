import type { Clock } from '../../core/clock.ts';

/** After this long without a byte the server is asked whether it lives. */
const silenceMs = 15_000;
/** It has this long to answer. */
const answerDeadlineMs = 10_000;

/** When a connection was last heard. */
export interface Pulse {
  /** Monotonic milliseconds. */
  readonly heardMs: number;
  /** Something came. */
  beat(): void;
}

export function createPulse(clock: Clock): Pulse {
  let heardMs = clock.monotonic();
  return {
    get heardMs() {
      return heardMs;
    },
    beat() {
      heardMs = clock.monotonic();
    },
  };
}

export interface LivenessOptions {
  readonly clock: Clock;
  readonly pulse: Pulse;
  /** Silence that is borne before asking; 15 s by default. */
  readonly silenceMs?: number;
  /** Asks the server for a sign of life, which must beat the pulse. */
  readonly ask: () => void;
  /** Called once, when nothing came within 10 s of asking. */
  readonly dead: () => void;
}

/**
 * Watches over one connection until the signal aborts, or until it is dead: at most 25 s after the last byte, as TCP alone takes 15 minutes.
 */
export async function watchOver(
  { clock, pulse, ask, dead, silenceMs: borne = silenceMs }: LivenessOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const silentMs = clock.monotonic() - pulse.heardMs;
    if (silentMs < borne) {
      await clock.sleep(borne - silentMs, signal);
      continue;
    }
    const askedMs = clock.monotonic();
    const heardBefore = pulse.heardMs;
    ask();
    await clock.sleep(answerDeadlineMs, signal);
    // A process that was stopped wakes to its timers first: what the server sent meanwhile still lies in the socket.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    if (pulse.heardMs === heardBefore && pulse.heardMs <= askedMs) return dead();
  }
}
