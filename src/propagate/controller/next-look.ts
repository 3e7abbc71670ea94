import { isAtRest } from './cluster-needs.ts';
import type { Look } from './look.ts';
import type { Pass } from './ports.ts';
import { rescheduleMsOf } from './run.ts';

/** Every Propagation is looked at again after so long, whatever is heard: times a random factor in [0.9, 1.1). */
const resyncMs = 600_000;

/** Mirrors are known to be true as of after a write within so long: then what they say of it is believed. */
const heardWithinMs = 20_000;

/** What failed, and cannot be begun again yet, is looked at no more often than this. */
const leastMs = 1_000;

/** After how many milliseconds there is something to look at again, if nothing is heard until then. `soonMs`: at the latest. */
export function nextLookMs({ run, ports }: Pass, { views, rollout, nowMs }: Look, soonMs: number | undefined): number {
  const { clock } = ports;
  const times = [resyncMs * (0.9 + 0.2 * clock.random())];
  if (soonMs !== undefined) times.push(soonMs);
  const rescheduleMs = rescheduleMsOf(run);
  if (rescheduleMs !== undefined) times.push(Math.max(0, rescheduleMs - clock.now()));
  times.push(Math.max(0, run.replanAtMs - clock.monotonic()));
  if (rollout.waves.nextCheckAtMs !== undefined) times.push(Math.max(0, rollout.waves.nextCheckAtMs - nowMs));
  for (const { cluster, needs, share } of views) {
    const known = run.clusters.get(cluster);
    if (known === undefined || known.isBusy) continue;
    const retryInMs = known.retryAtMs - clock.monotonic();
    const isFailing = known.failures > 0 && (!isAtRest(needs) || share !== undefined);
    // Where its time has come, and nothing was begun, it waits for something else: that is heard, and asked about now and then, not in every turn.
    if (isFailing && (retryInMs > 0 || !isAtRest(needs))) times.push(Math.max(leastMs, retryInMs));
    const sinceMs = nowMs - known.wroteAtMs;
    if (sinceMs < 2 * heardWithinMs) times.push(heardWithinMs);
  }
  return Math.min(...times);
}
