import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type GroupKind, groupOfApiVersion, keyOfKind, type ServedResource, versionOfApiVersion } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MemberObjects, MirroredObject, NamespacedName } from '../../store/member-objects.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { MirrorLease, MirrorReader, Mirrors } from '../mirrors.ts';
import { createMemberChanges, type MemberChanges } from './member-changes.ts';

interface MemberObjectsOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly log: Log;
}

/** One kind of one cluster that somebody holds, whether or not it can be mirrored now. */
interface HeldMirror {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  count: number;
  /** Absent while the cluster is no member or does not serve the kind. */
  held?: { readonly lease: MirrorLease; readonly end: AbortController } | undefined;
}

/** The mirrors as the side that writes reads them. Everything held ends with the signal. */
export function createMemberObjects({ mirrors, clock, log }: MemberObjectsOptions, signal: AbortSignal): MemberObjects {
  const changes = createMemberChanges(log);
  const holdings = createHeldMirrors(mirrors, changes);
  mirrors.onChange((change) => {
    if (change.type === 'mirrored') {
      if (holdings.has(change.cluster, change.kind)) changes.publish({ type: 'mirror', cluster: change.cluster, kind: change.kind });
      return;
    }
    holdings.acquireMissing(change.cluster);
    changes.publish({ type: 'cluster', cluster: change.cluster });
  }, signal);
  signal.addEventListener('abort', () => holdings.end(), { once: true });

  return {
    served: (cluster, kind) => ('group' in kind ? servedNow(mirrors, cluster, kind) : servedOf(mirrors, cluster, kind)),
    read(cluster, kind, place) {
      const mirror = mirrorOf(mirrors, cluster, kind);
      return mirror === undefined ? { result: 'unread', fault: absenceOf(mirrors, cluster, kind) } : readFrom(mirror, place);
    },
    all(cluster, kind) {
      const mirror = mirrorOf(mirrors, cluster, kind);
      return mirror === undefined || unreadOf(mirror) !== undefined ? undefined : [...mirror.store.objects()];
    },
    hold: (cluster, kind, until) => holdings.hold(cluster, kind, AbortSignal.any([until, signal])),
    whenRead: (wanted, waitMs, until) => whenRead({ mirrors, clock }, { wanted, waitMs }, until),
    onChange: (callback, until) => changes.subscribe(callback, until),
  };
}

function servedNow(mirrors: Mirrors, cluster: ClusterName, kind: GroupKind): ServedResource | 'absent' | undefined {
  const resource = mirrors.served(cluster, kind);
  if (resource !== undefined) return resource;
  // All that is known of a cluster costs far more to say than which kind it serves, and is asked for where it serves none.
  return mirrors.cluster(cluster)?.resources === undefined ? undefined : 'absent';
}

function servedOf(
  mirrors: Mirrors,
  cluster: ClusterName,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): ServedResource | 'absent' | undefined {
  const version = versionOfApiVersion(apiVersion);
  const resource = servedNow(mirrors, cluster, { group: groupOfApiVersion(apiVersion), kind });
  if (resource === undefined || resource === 'absent') return resource;
  return resource.versions.includes(version) ? { ...resource, version } : 'absent';
}

/** The mirror, started if nobody has: it stays for a while after this lease is gone. */
function mirrorOf(mirrors: Mirrors, cluster: ClusterName, kind: GroupKind): MirrorReader | undefined {
  const running = mirrors.peek(cluster, kind);
  if (running !== undefined) return running;
  using lease = mirrors.acquire(cluster, kind);
  return lease?.mirror;
}

function readFrom(mirror: MirrorReader, { namespace, name }: NamespacedName): MirroredObject {
  const unread = unreadOf(mirror) ?? (namespace === '' ? undefined : mirror.unmirroredFault([namespace]));
  if (unread !== undefined) return { result: 'unread', fault: unread };
  const { asOfMs = 0, fault } = mirror.sync();
  const { version } = mirror.store;
  const age = { asOfMs, version, fault };
  const object = mirror.store.get(namespace, name);
  return object === undefined ? { result: 'absent', ...age } : { result: 'held', object, ...age };
}

/** Why what is held says nothing: the first list is not whole, or was lost. */
function unreadOf(mirror: MirrorReader): Fault | undefined {
  const { phase, fault } = mirror.sync();
  if (phase === 'SYNCED' || phase === 'STALE') return undefined;
  return fault ?? syncing(mirror.cluster, mirror.resource);
}

function absenceOf(mirrors: Mirrors, cluster: ClusterName, kind: GroupKind): Fault {
  const state = mirrors.cluster(cluster);
  const about = { cluster, kind: { group: kind.group, kind: kind.kind } };
  if (state === undefined) return { code: 'GONE', ...about, message: 'the cluster is not a member of the fleet', retry: 'LATER' };
  const [fault] = state.faults;
  if (state.resources === undefined) return fault === undefined ? syncing(cluster, kind) : { ...fault, ...about };
  return { code: 'NOT_SERVED', ...about, message: `the cluster does not serve ${keyOfKind(kind)}`, retry: 'LATER' };
}

function syncing(cluster: ClusterName, { group, kind }: GroupKind): Fault {
  return { code: 'SYNCING', cluster, kind: { group, kind }, message: 'the first list is not whole yet', retry: 'LATER' };
}

interface HeldMirrors {
  has(cluster: ClusterName, kind: GroupKind): boolean;
  hold(cluster: ClusterName, kind: GroupKind, signal: AbortSignal): void;
  /** Something changed about the cluster: what could not be mirrored may be now. */
  acquireMissing(cluster: ClusterName): void;
  end(): void;
}

function createHeldMirrors(mirrors: Mirrors, changes: MemberChanges): HeldMirrors {
  const byCluster = new Map<ClusterName, Map<string, HeldMirror>>();

  function drop(holding: HeldMirror): void {
    holding.held?.end.abort();
    holding.held?.lease[Symbol.dispose]();
    holding.held = undefined;
  }

  function take(holding: HeldMirror): void {
    const { cluster, kind } = holding;
    if (holding.held !== undefined) return;
    const lease = mirrors.acquire(cluster, kind);
    if (lease === undefined) return;
    const end = new AbortController();
    holding.held = { lease, end };
    lease.mirror.store.followChanges((events) => {
      for (const event of events) hear(holding, event);
    }, end.signal);
    changes.publish({ type: 'mirror', cluster, kind });
  }

  function hear(holding: HeldMirror, event: StoreEvent): void {
    const { cluster, kind } = holding;
    switch (event.type) {
      case 'applied':
      case 'deleted':
        changes.publish({ type: 'object', cluster, kind, place: placeOf(event.object.metadata) });
        break;
      case 'gone':
        drop(holding);
        changes.publish({ type: 'mirror', cluster, kind });
        break;
      case 'reset':
      case 'synced':
      case 'failed':
        changes.publish({ type: 'mirror', cluster, kind });
        break;
      case 'confirmed':
        break;
      default:
        event satisfies never;
    }
  }

  return {
    has: (cluster, kind) => byCluster.get(cluster)?.has(keyOfKind(kind)) ?? false,
    hold(cluster, kind, signal) {
      if (signal.aborted) return;
      const kinds = byCluster.get(cluster) ?? new Map<string, HeldMirror>();
      byCluster.set(cluster, kinds);
      const key = keyOfKind(kind);
      const holding = kinds.get(key) ?? { cluster, kind, count: 0 };
      kinds.set(key, holding);
      holding.count += 1;
      take(holding);
      signal.addEventListener(
        'abort',
        () => {
          holding.count -= 1;
          if (holding.count > 0) return;
          drop(holding);
          kinds.delete(key);
          if (kinds.size === 0) byCluster.delete(cluster);
        },
        { once: true },
      );
    },
    acquireMissing(cluster) {
      for (const holding of byCluster.get(cluster)?.values() ?? []) take(holding);
    },
    end() {
      for (const kinds of byCluster.values()) for (const holding of kinds.values()) drop(holding);
      byCluster.clear();
    },
  };
}

function placeOf({ namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string }): NamespacedName {
  return { namespace, name };
}

async function whenRead(
  { mirrors, clock }: Pick<MemberObjectsOptions, 'mirrors' | 'clock'>,
  { wanted, waitMs }: { readonly wanted: readonly { readonly cluster: ClusterName; readonly kind: GroupKind }[]; readonly waitMs: number },
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  using leases = new DisposableStack();
  const settle = async ({ cluster, kind }: { readonly cluster: ClusterName; readonly kind: GroupKind }) => {
    if (servedNow(mirrors, cluster, kind) === undefined) await mirrors.whenDiscovered(cluster, either);
    if (either.aborted) return;
    const lease = mirrors.acquire(cluster, kind);
    if (lease === undefined) return;
    leases.use(lease);
    await lease.mirror.whenSettled(either);
  };
  try {
    await Promise.race([Promise.all(wanted.map(settle)), clock.sleep(waitMs, either)]);
  } finally {
    done.abort();
  }
}
