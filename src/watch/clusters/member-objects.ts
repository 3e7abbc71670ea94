import type { Clock } from '../../core/clock.ts';
import { type Fault, type FaultCode, fault } from '../../core/faults.ts';
import { type GroupKind, groupOfApiVersion, keyOfKind, type ServedResource, versionOfApiVersion } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MemberObjects, MirroredObject, NamespacedName, WantedMirror } from '../../store/member-objects.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { MirrorLease, MirrorReader, Mirrors } from '../mirrors.ts';
import { createMemberChanges, type MemberChanges } from './member-changes.ts';

interface MemberObjectsOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly log: Log;
}

/** A kind of one cluster that callers hold, even if it cannot be mirrored now. */
interface HeldMirror {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  count: number;
  /**
   * The lease of the mirror, and the signal that ends its subscription. Undefined while the cluster is not a member or does not serve the
   * kind.
   */
  running?: { readonly lease: MirrorLease; readonly end: AbortController } | undefined;
}

/** Creates the reads for code that propagates objects. All held mirrors are released when the signal aborts. */
export function createMemberObjects({ mirrors, clock, log }: MemberObjectsOptions, signal: AbortSignal): MemberObjects {
  const changes = createMemberChanges(log);
  const heldMirrors = new HeldMirrors(mirrors, changes);
  mirrors.onChange((change) => {
    if (change.type === 'mirrored') {
      if (heldMirrors.has(change.cluster, change.kind)) changes.publish({ type: 'mirror', cluster: change.cluster, kind: change.kind });
      return;
    }
    heldMirrors.acquireMissing(change.cluster);
    changes.publish({ type: 'cluster', cluster: change.cluster });
  }, signal);
  signal.addEventListener('abort', () => heldMirrors.end(), { once: true });

  return {
    served: (cluster, kind) => ('group' in kind ? servedNow(mirrors, cluster, kind) : servedOf(mirrors, cluster, kind)),
    read(cluster, kind, objectName) {
      const mirror = mirrorOf(mirrors, cluster, kind);
      return mirror === undefined ? { result: 'unread', fault: absenceOf(mirrors, cluster, kind) } : readFrom(mirror, objectName);
    },
    all(cluster, kind) {
      const mirror = mirrorOf(mirrors, cluster, kind);
      return mirror === undefined || unreadOf(mirror) !== undefined ? undefined : [...mirror.store.objects()];
    },
    hold: (cluster, kind, until) => heldMirrors.hold(cluster, kind, AbortSignal.any([until, signal])),
    whenRead: (wanted, waitMs, until) => whenRead({ mirrors, clock }, { wanted, waitMs }, until),
    onChange: (callback, until) => changes.subscribe(callback, until),
  };
}

function servedNow(mirrors: Mirrors, cluster: ClusterName, kind: GroupKind): ServedResource | 'absent' | undefined {
  const resource = mirrors.served(cluster, kind);
  if (resource !== undefined) return resource;
  return mirrors.servedKinds(cluster) === undefined ? undefined : 'absent';
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

/**
 * Returns the mirror, and starts it if necessary. Undefined if the cluster does not serve the kind or has not answered. The lease ends with
 * the call, but the mirror stays for a while.
 */
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

/**
 * Returns why the content of a mirror is unknown: its first list is not complete, or its right was lost. Undefined if the content is known.
 */
function unreadOf(mirror: MirrorReader): Fault | undefined {
  const { phase, fault } = mirror.sync();
  if (phase === 'SYNCED' || phase === 'STALE') return undefined;
  // For code that propagates, `NOT_SERVED` means that the cluster lacks the kind, so that no object can exist.
  if (mirror.isRefused && fault !== undefined) return { ...fault, code: 'FORBIDDEN' };
  return fault ?? syncing(mirror.cluster, mirror.resource);
}

function absenceOf(mirrors: Mirrors, cluster: ClusterName, kind: GroupKind): Fault {
  const state = mirrors.cluster(cluster);
  const about = { cluster, kind: { group: kind.group, kind: kind.kind } };
  if (state === undefined) return fault('GONE', 'the cluster is not a member of the fleet', { ...about, retry: 'LATER' });
  const [problem] = state.faults;
  if (state.resources === undefined) return problem === undefined ? syncing(cluster, kind) : { ...problem, ...about };
  return fault('NOT_SERVED', `the cluster does not serve ${keyOfKind(kind)}`, { ...about, retry: 'LATER' });
}

function syncing(cluster: ClusterName, { group, kind }: GroupKind): Fault {
  return fault('SYNCING', 'the first list is not complete yet', { cluster, kind: { group, kind }, retry: 'LATER' });
}

/**
 * The mirrors that callers hold. If a mirror ends, for example because its cluster leaves, the kind stays registered. The next change of
 * the cluster acquires a new mirror if that is possible.
 */
class HeldMirrors {
  readonly #mirrors: Mirrors;
  readonly #changes: MemberChanges;
  readonly #byCluster = new Map<ClusterName, Map<string, HeldMirror>>();

  constructor(mirrors: Mirrors, changes: MemberChanges) {
    this.#mirrors = mirrors;
    this.#changes = changes;
  }

  has(cluster: ClusterName, kind: GroupKind): boolean {
    return this.#byCluster.get(cluster)?.has(keyOfKind(kind)) ?? false;
  }

  hold(cluster: ClusterName, kind: GroupKind, signal: AbortSignal): void {
    if (signal.aborted) return;
    const kinds = this.#byCluster.get(cluster) ?? new Map<string, HeldMirror>();
    this.#byCluster.set(cluster, kinds);
    const key = keyOfKind(kind);
    const held = kinds.get(key) ?? { cluster, kind, count: 0 };
    kinds.set(key, held);
    held.count += 1;
    this.#acquire(held);
    const release = () => {
      held.count -= 1;
      if (held.count > 0) return;
      releaseMirror(held);
      kinds.delete(key);
      if (kinds.size === 0) this.#byCluster.delete(cluster);
    };
    signal.addEventListener('abort', release, { once: true });
  }

  /**
   * Acquires the held mirrors of the cluster that do not run. Call this method after a change of the cluster: kinds that could not be
   * mirrored before may be mirrored now.
   */
  acquireMissing(cluster: ClusterName): void {
    for (const held of this.#byCluster.get(cluster)?.values() ?? []) this.#acquire(held);
  }

  end(): void {
    for (const kinds of this.#byCluster.values()) for (const held of kinds.values()) releaseMirror(held);
    this.#byCluster.clear();
  }

  #acquire(held: HeldMirror): void {
    const { cluster, kind } = held;
    if (held.running !== undefined) return;
    const lease = this.#mirrors.acquire(cluster, kind);
    if (lease === undefined) return;
    const end = new AbortController();
    held.running = { lease, end };
    lease.mirror.store.followChanges((events) => {
      for (const event of events) this.#publishEvent(held, event);
    }, end.signal);
    this.#changes.publish({ type: 'mirror', cluster, kind });
  }

  #publishEvent(held: HeldMirror, event: StoreEvent): void {
    const { cluster, kind } = held;
    switch (event.type) {
      case 'applied':
      case 'deleted': {
        const { namespace = '', name } = event.object.metadata;
        this.#changes.publish({ type: 'object', cluster, kind, objectName: { namespace, name } });
        break;
      }
      case 'gone':
        releaseMirror(held);
        this.#changes.publish({ type: 'mirror', cluster, kind });
        break;
      case 'reset':
      case 'synced':
      case 'failed':
        this.#changes.publish({ type: 'mirror', cluster, kind });
        break;
      case 'confirmed':
        break;
      default:
        event satisfies never;
    }
  }
}

function releaseMirror(held: HeldMirror): void {
  held.running?.end.abort();
  held.running?.lease[Symbol.dispose]();
  held.running = undefined;
}

async function whenRead(
  { mirrors, clock }: Pick<MemberObjectsOptions, 'mirrors' | 'clock'>,
  { wanted, waitMs }: { readonly wanted: readonly WantedMirror[]; readonly waitMs: number },
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  using leases = new DisposableStack();
  const settle = async ({ cluster, kind, inSync = false }: WantedMirror) => {
    if (servedNow(mirrors, cluster, kind) === undefined) await mirrors.whenDiscovered(cluster, either);
    if (either.aborted) return;
    const lease = mirrors.acquire(cluster, kind);
    if (lease === undefined) return;
    leases.use(lease);
    await lease.mirror.whenSettled(either);
    if (inSync) await whenCaughtUp({ mirrors, clock }, lease.mirror, either);
  };
  try {
    await Promise.race([Promise.all(wanted.map(settle)), clock.sleep(waitMs, either)]);
  } finally {
    done.abort();
  }
}

/** The faults of a mirror whose connection was lost, until its stream is open or its list is complete again. */
const lostConnection: ReadonlySet<FaultCode> = new Set(['UNREACHABLE', 'TIMED_OUT', 'EXPIRED']);

/**
 * Milliseconds after a stream has opened in which the server sends the changes that the mirror has missed. A watch from a version does not
 * mark the last of them.
 */
const missedChangesMs = 250;

/** Resolves when the mirror is not behind a cluster that answers again, or when the signal aborts. */
async function whenCaughtUp(
  { mirrors, clock }: Pick<MemberObjectsOptions, 'mirrors' | 'clock'>,
  mirror: MirrorReader,
  signal: AbortSignal,
): Promise<void> {
  const isBehind = () => {
    const { phase, fault } = mirror.sync();
    const isAway = mirrors.cluster(mirror.cluster)?.phase === 'UNREACHABLE';
    return !isAway && phase === 'STALE' && fault !== undefined && lostConnection.has(fault.code);
  };
  if (signal.aborted || !isBehind()) return;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  await new Promise<void>((resolve) => {
    until.addEventListener('abort', () => resolve(), { once: true });
    mirrors.onChange(({ cluster }) => {
      if (cluster === mirror.cluster && !isBehind()) ended.abort();
    }, until);
  });
  if (mirror.sync().phase === 'SYNCED') await clock.sleep(missedChangesMs, signal);
}
