import type { Clock } from '../../core/clock.ts';

/** Milliseconds without a byte after which the server is probed. */
const silenceMs = 15_000;
/** Milliseconds that the server has to answer a probe. */
const answerDeadlineMs = 10_000;

/** The time of the last sign of life of a connection. */
export interface Pulse {
  /** Monotonic milliseconds of the last sign of life. */
  readonly heardMs: number;
  /** Records a sign of life. */
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
  /** Milliseconds of silence before a probe. Default: 15,000. */
  readonly silenceMs?: number;
  /** Sends the probe. Its answer must mark a sign of life. */
  readonly ask: () => void;
  /** Called once, when no byte came within 10 s of a probe. */
  readonly dead: () => void;
}

/**
 * Supervises one connection until the signal aborts or the connection is dead. A dead one is noticed at most 25 s after the last byte.
 * TCP alone takes 15 minutes.
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
    // A stopped process runs its timers first when it resumes. Bytes that arrived meanwhile are still in the socket.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    if (pulse.heardMs === heardBefore && pulse.heardMs <= askedMs) return dead();
  }
}
