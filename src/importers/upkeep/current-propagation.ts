import type { Fault } from '../../core/faults.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { compareVersions } from '../../store/versions.ts';
import type { UpkeepPass } from './upkeep-pass.ts';

/**
 * Time for which an answer of the hub is used in place of an older mirror. After this time, an older mirror may mean that the hub was
 * restored from a backup.
 */
const latestMs = 5_000;

/**
 * Returns the Propagation of the resource: the mirrored one, or for 5 s the one that this process wrote or fetched, if it is newer.
 * `absent`: there is none. `unread`: the mirror has no first list yet.
 */
export function currentPropagation({ ports, state }: UpkeepPass): Propagation | 'absent' | 'unread' {
  const mirrored = ports.propagations.read(state.name);
  const latest = state.latest;
  const isRecent = latest !== undefined && ports.clock.monotonic() < latest.atMs + latestMs;
  if (mirrored.result === 'unread') return 'unread';
  const held = mirrored.result === 'held' ? mirrored.propagation : 'absent';
  if (!isRecent) {
    state.latest = undefined;
    return held;
  }
  const version = held === 'absent' ? (mirrored.result === 'absent' ? mirrored.version : undefined) : held.metadata.version;
  const order = version === undefined ? undefined : compareVersions(version, latest.propagation.metadata.version);
  return order !== undefined && order < 0 ? latest.propagation : held;
}

/** Fetches the Propagation from the hub, because the mirror may be behind. Remembers the answer for `currentPropagation`. */
export async function fetchCurrentPropagation(pass: UpkeepPass): Promise<Propagation | 'absent' | { readonly fault: Fault }> {
  const { ports, state, term } = pass;
  const found = await ports.propagations.fetch(state.name, term.signal);
  if (found === 'absent') state.latest = undefined;
  else if (!('fault' in found)) rememberPropagation(pass, found);
  return found;
}

/** Remembers an answer of the hub, which `currentPropagation` then uses in place of an older mirror. */
export function rememberPropagation({ ports, state }: UpkeepPass, propagation: Propagation): void {
  state.latest = { propagation, atMs: ports.clock.monotonic() };
}
