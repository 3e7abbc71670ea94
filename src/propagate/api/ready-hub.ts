import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { compareVersions } from '../../store/versions.ts';
import { type Hub, hubKinds } from '../hub/hub.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { Propagation } from '../model/propagation.ts';
import type { PropagationName, PropagationOutcome } from '../model/propagations.ts';

/** The maximum time to wait for the first lists of the hub, and for a written object to appear in the mirror. */
export const maxHubWaitMs = 5_000;

/**
 * Waits until the hub can be read, and returns its stores.
 *
 * @throws {MusterError} `UNAVAILABLE` if no hub is configured, with a hint how to configure one. `UNAVAILABLE` with the fault if the hub
 * cannot be read within 5 s.
 */
export async function readyHub(stores: HubStores | undefined, signal: AbortSignal): Promise<HubStores> {
  if (stores === undefined) {
    throw new MusterError('UNAVAILABLE', 'there is no hub to keep Propagations: name its cluster with --hub, or as hub in the config file');
  }
  const problem = await hubProblem(stores, signal);
  if (problem !== undefined) throw hubUnavailable(problem);
  return stores;
}

/** Waits at most 5 s until the hub can be read. Returns the reason if it cannot. */
export async function hubProblem(stores: HubStores, signal: AbortSignal): Promise<Fault | undefined> {
  const { cluster, members } = stores.hub;
  if (stores.propagations.unavailability() === undefined && stores.propagations.all() !== undefined) return undefined;
  const kinds = [hubKinds.propagation, hubKinds.clusterShare];
  await members.objects.whenRead(
    kinds.map((kind) => ({ cluster, kind })),
    maxHubWaitMs,
    signal,
  );
  return stores.propagations.unavailability() ?? unreadFaultOf(stores);
}

/** A name to read from the mirror: the answer for any name tells whether the mirror can be read. */
export const anyName = { namespace: 'default', name: 'unread' };

function unreadFaultOf({ propagations }: HubStores): Fault | undefined {
  if (propagations.all() !== undefined) return undefined;
  const read = propagations.read(anyName);
  return read.result === 'unread' ? read.fault : undefined;
}

/** Returns a fault of the hub as the error of a request that needs the hub. */
export function hubUnavailable({ cluster, message }: Fault): MusterError {
  return new MusterError('UNAVAILABLE', `hub ${cluster}: ${message}`);
}

/**
 * Fetches the Propagation from the hub itself. Undefined if it does not exist.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
export async function fetchPropagation(stores: HubStores, name: PropagationName, signal: AbortSignal): Promise<Propagation | undefined> {
  const found = await stores.propagations.fetch(name, signal);
  if (found === 'absent') return undefined;
  if ('fault' in found) throw hubUnavailable(found.fault);
  return found;
}

/**
 * Waits until the mirror shows this version of the Propagation, a later version, or another Propagation of the same name. If the
 * Propagation is being deleted, waits until the mirror shows the deletion. Resolves after 5 s at the latest.
 */
export async function waitUntilMirrored(
  { stores: { hub, propagations }, clock }: { readonly stores: HubStores; readonly clock: Clock },
  { metadata }: Propagation,
  signal: AbortSignal,
): Promise<void> {
  const isHeld = () => {
    const read = propagations.read(metadata);
    const isGoing = metadata.deletionTimestamp !== undefined;
    if (read.result !== 'held') return read.result === 'absent' && isGoing;
    const { uid, version, deletionTimestamp } = read.propagation.metadata;
    if (uid !== metadata.uid) return true;
    return isGoing ? deletionTimestamp !== undefined : (compareVersions(version, metadata.version) ?? -1) >= 0;
  };
  await waitForMirror({ hub, clock, isHeld }, signal);
}

/** Waits until the mirrors of the hub fulfil a condition, which is checked after each change. Resolves after 5 s at the latest. */
export async function waitForMirror(
  { hub, clock, isHeld }: { readonly hub: Hub; readonly clock: Clock; readonly isHeld: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  if (isHeld()) return;
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const held = new Promise<void>((resolve) => {
    hub.members.objects.onChange(() => {
      if (isHeld()) resolve();
    }, either);
  });
  try {
    await Promise.race([held, clock.sleep(maxHubWaitMs, either)]);
  } finally {
    done.abort();
  }
}

/** The maximum number of attempts of a write that conflicts with other writes. */
const maxAttempts = 5;

/** The result of one attempt to write: an outcome, or `again` after a conflict with another write. */
export type WriteAttempt = PropagationOutcome | 'again';

/**
 * Repeats an attempt until it ends without a conflict, at most five times.
 *
 * @throws {MusterError} `UNAVAILABLE` if every attempt had a conflict.
 */
export async function retryConflicts(attempt: () => Promise<WriteAttempt>): Promise<PropagationOutcome> {
  for (let left = maxAttempts; left > 0; left--) {
    const result = await attempt();
    if (result !== 'again') return result;
  }
  throw new MusterError('UNAVAILABLE', 'other clients keep changing the Propagation: try again');
}
