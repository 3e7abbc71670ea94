import type { Clock } from '../../core/clock.ts';

/** Milliseconds without a byte after which the server is probed. */
const silenceMs = 15_000;
/** Milliseconds that the server has to answer a probe. */
const answerDeadlineMs = 10_000;

/** The time of the last sign of life of a connection: a byte, or the answer to a probe. */
export interface ConnectionActivity {
  /** Monotonic milliseconds of the last sign of life. */
  readonly lastReceivedMs: number;
  /** Records a sign of life. */
  markReceived(): void;
}

export function createConnectionActivity(clock: Clock): ConnectionActivity {
  let lastReceivedMs = clock.monotonic();
  return {
    get lastReceivedMs() {
      return lastReceivedMs;
    },
    markReceived() {
      lastReceivedMs = clock.monotonic();
    },
  };
}

export interface LivenessOptions {
  readonly clock: Clock;
  readonly activity: ConnectionActivity;
  /** Milliseconds of silence before a probe. Default: 15,000. */
  readonly silenceMs?: number;
  /** Sends the probe. Its answer must mark a sign of life. */
  readonly probe: () => void;
  /** Called once, when no byte came within 10 s of a probe. */
  readonly onDead: () => void;
}

/**
 * Supervises one connection until the signal aborts or the connection is dead. With the default silence, a dead connection is noticed
 * within 25 s after its last byte. TCP alone takes 15 minutes.
 */
export async function superviseConnection(
  { clock, activity, probe, onDead, silenceMs: allowedMs = silenceMs }: LivenessOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const silentMs = clock.monotonic() - activity.lastReceivedMs;
    if (silentMs < allowedMs) {
      await clock.sleep(allowedMs - silentMs, signal);
      continue;
    }
    const probedMs = clock.monotonic();
    const lastBeforeMs = activity.lastReceivedMs;
    probe();
    await clock.sleep(answerDeadlineMs, signal);
    // A stopped process runs its timers first when it resumes. Bytes that arrived meanwhile are still in the socket, and are read in this
    // turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    if (activity.lastReceivedMs === lastBeforeMs && activity.lastReceivedMs <= probedMs) return onDead();
  }
}
