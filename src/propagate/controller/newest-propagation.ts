import { compareVersions } from '../../store/versions.ts';
import type { Propagation } from '../model/propagation.ts';
import { retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { discardPlan } from './state/propagation-state.ts';
import { readAgain } from './write-status.ts';

/** Time for which the mirror may be older than the Propagation that this process read or wrote. After it, the hub is read. */
const maxBehindMs = 5_000;

/**
 * Returns the newer of the mirrored Propagation and the one that this process read or wrote last. Returns the result of the pass instead if
 * the hub must be read and does not answer.
 *
 * If the mirror stays older for 5 s, reads the Propagation from the hub, because the hub may have been restored from a backup. If the hub
 * has an older version, this process discards its plan, stops the work that it started, and uses the version of the hub.
 */
export async function newestPropagation(
  pass: Pass,
  mirrored: Propagation,
): Promise<Propagation | Extract<PassResult, { readonly result: 'passed' }>> {
  const { state, ports, term } = pass;
  const newest = newestOf(mirrored, state.latest);
  const nowMs = ports.clock.monotonic();
  state.behindSinceMs = newest === mirrored ? undefined : (state.behindSinceMs ?? nowMs);
  if (state.behindSinceMs === undefined || nowMs < state.behindSinceMs + maxBehindMs) return newest;
  state.behindSinceMs = undefined;
  if (!(await readAgain(pass))) return { result: 'passed', ...retryHubLater(pass) };
  if (term.signal.aborted || !isOlder(state.latest, newest)) return state.latest ?? { result: 'passed' };
  ports.log.warn({ propagation: state.key }, 'the hub was restored to an older state: everything is read again');
  discardPlan(state);
  return state.latest ?? { result: 'passed' };
}

/** Bounds the delay of the next pass while the mirror is behind, so that a mirror which stays behind is noticed. */
export function withRecheck({ behindSinceMs }: Pass['state'], passed: PassResult): PassResult {
  if (behindSinceMs === undefined || passed.result === 'gone') return passed;
  return { ...passed, againMs: Math.min(passed.againMs ?? maxBehindMs, maxBehindMs) };
}

function isOlder(live: Propagation | undefined, known: Propagation): boolean {
  if (live === undefined) return false;
  const order = compareVersions(live.metadata.version, known.metadata.version);
  return live.metadata.uid === known.metadata.uid && order !== undefined && order < 0;
}

/** Returns the newer of the two. The mirror is older for a moment after each write of this process. */
function newestOf(mirrored: Propagation, known: Propagation | undefined): Propagation {
  if (known === undefined || known.metadata.uid !== mirrored.metadata.uid) return mirrored;
  const order = compareVersions(mirrored.metadata.version, known.metadata.version);
  return order !== undefined && order < 0 ? known : mirrored;
}
