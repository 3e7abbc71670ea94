import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { compareVersions } from '../../store/versions.ts';
import { hubKinds } from '../hub/hub.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { Propagation } from '../model/propagation.ts';
import type { PropagationName, PropagationOutcome } from '../model/propagations.ts';

/** How long the first lists of the hub, and what was just written there, are waited for. */
export const maxHubWaitMs = 5_000;

/**
 * The hub, once it can be read.
 *
 * @throws {MusterError} `UNAVAILABLE` without one, or if it cannot be read within 5 s: how to name one, or why.
 */
export async function readyHub(stores: HubStores | undefined, signal: AbortSignal): Promise<HubStores> {
  if (stores === undefined) {
    throw new MusterError('UNAVAILABLE', 'there is no hub to keep Propagations: name its cluster with --hub, or as hub in the config file');
  }
  const { cluster, members } = stores.hub;
  if (stores.propagations.unavailability() === undefined && stores.propagations.all() !== undefined) return stores;
  const kinds = [hubKinds.propagation, hubKinds.clusterShare];
  await members.objects.whenRead(
    kinds.map((kind) => ({ cluster, kind })),
    maxHubWaitMs,
    signal,
  );
  const problem = stores.propagations.unavailability() ?? unreadFaultOf(stores);
  if (problem !== undefined) throw hubUnavailable(problem);
  return stores;
}

function unreadFaultOf({ propagations }: HubStores): Fault | undefined {
  if (propagations.all() !== undefined) return undefined;
  const read = propagations.read({ namespace: 'default', name: 'unread' });
  return read.result === 'unread' ? read.fault : undefined;
}

/** What the hub could not do, as the error of a request that needs it. */
export function hubUnavailable({ cluster, message }: Fault): MusterError {
  return new MusterError('UNAVAILABLE', `hub ${cluster}: ${message}`);
}

/**
 * The Propagation as the hub itself has it now.
 *
 * @throws {MusterError} `UNAVAILABLE` if it does not answer.
 */
export async function fetchPropagation(stores: HubStores, name: PropagationName, signal: AbortSignal): Promise<Propagation | undefined> {
  const found = await stores.propagations.fetch(name, signal);
  if (found === 'absent') return undefined;
  if ('fault' in found) throw hubUnavailable(found.fault);
  return found;
}

/** Resolves once the mirror holds that state of it or a later one, or that it is gone; after 5 s in any case. */
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

/** Retries of a write that met another's. */
const maxAttempts = 5;

/** What one attempt came to: done, or met by another's write. */
export type WriteAttempt = PropagationOutcome | 'again';

/**
 * Decides and writes until nobody else wrote in between.
 *
 * @throws {MusterError} `UNAVAILABLE` if others write all the time.
 */
export async function retryConflicts(attempt: () => Promise<WriteAttempt>): Promise<PropagationOutcome> {
  for (let left = maxAttempts; left > 0; left--) {
    const came = await attempt();
    if (came !== 'again') return came;
  }
  throw new MusterError('UNAVAILABLE', 'the Propagation is changed by others all the time: try again');
}
