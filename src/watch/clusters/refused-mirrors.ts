import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/faults.ts';
import { keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { createStore } from '../../store/contents/store.ts';
import type { MirrorLease, MirrorReader } from '../mirrors.ts';

/**
 * The mirrors of a cluster that may not be mirrored, for all readers. They are empty, and report the fault `NOT_SERVED`. So a reader that
 * does not read live fails, and never shows an object that the gateway read with its own account.
 */
export interface RefusedMirrors {
  /** Returns the empty mirror of the kind. It stays the same until the cluster leaves. */
  acquire(resource: ServedResource): MirrorLease;
  /** Returns the empty mirror of the kind if it was acquired before. */
  peek(resource: ServedResource): MirrorReader | undefined;
}

/** Creates the refused mirrors of a cluster. They send no request and need no disposal. */
export function createRefusedMirrors(cluster: ClusterName, clock: Clock): RefusedMirrors {
  const known = new Map<string, MirrorReader>();
  return {
    acquire(resource) {
      const key = keyOfKind(resource);
      const mirror = known.get(key) ?? refusedMirror(cluster, resource, clock);
      known.set(key, mirror);
      return { mirror, [Symbol.dispose]: () => undefined };
    },
    peek: (resource) => known.get(keyOfKind(resource)),
  };
}

function refusedMirror(cluster: ClusterName, resource: ServedResource, clock: Clock): MirrorReader {
  const { group, kind } = resource;
  const refusal = fault(
    'NOT_SERVED',
    `${keyOfKind(resource)}: objects of this cluster are not mirrored, because it has authorization: live`,
    {
      cluster,
      kind: { group, kind },
      retry: 'NEVER',
    },
  );
  return {
    cluster,
    resource,
    isRefused: true,
    store: createStore({ epoch: randomUUID(), clock }),
    sync: () => ({ phase: 'MISSING', fault: refusal }),
    faults: () => [],
    unmirroredFault: () => refusal,
    partialListFault: () => refusal,
    settled: () => true,
    whenSettled: () => Promise.resolve(),
  };
}
