import type { Clock } from '../core/clock.ts';
import type { CallerSession } from './authenticator.ts';

/**
 * Milliseconds after the end of a credential at which its streams end. A token is accepted for 30 s after its end, because clocks differ, and
 * no event may be sent after that.
 */
const graceMs = 15_000;

/**
 * Milliseconds between two checks of a credential. A revoked one is noticed within 60 s: 35 s until the check, 10 s in the cache, 10 s for the
 * answer.
 */
const checkMs = 35_000;

/** Milliseconds until a check that had no answer is repeated. */
const retryMs = 5_000;

/** Milliseconds of the longest sleep. The clock of the machine may jump, and timers do not run while a machine is suspended. */
const maxSleepMs = 20_000;

/**
 * Calls back once when the session of a stream or socket ends: `expired`, between the end of its credential and 30 s later, or `refused`,
 * within 60 s after its issuer has revoked it. While the issuer does not answer, the session continues until it expires. An abort ends the
 * watch.
 */
export async function watchSession(
  { expiresAtMs = Number.POSITIVE_INFINITY, check }: Pick<CallerSession, 'expiresAtMs' | 'check'>,
  { clock, onEnd }: { readonly clock: Clock; readonly onEnd: (reason: 'expired' | 'refused') => void },
  signal: AbortSignal,
): Promise<void> {
  if (expiresAtMs === Number.POSITIVE_INFINITY && check === undefined) return;
  const endMs = expiresAtMs + graceMs;
  let checkAtMs = check === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + checkMs;
  while (!signal.aborted) {
    const restMs = Math.min(endMs - clock.now(), checkAtMs - clock.monotonic());
    if (restMs > 0) {
      await clock.sleep(Math.min(restMs, maxSleepMs), signal);
      continue;
    }
    if (clock.now() >= endMs) return onEnd('expired');
    const result = await check?.();
    if (signal.aborted) return;
    if (result === 'unknown') return onEnd('refused');
    checkAtMs = clock.monotonic() + (result === 'known' ? checkMs : retryMs);
  }
}
