import type { Clock } from '../../../src/core/clock.ts';
import type { Fault } from '../../../src/core/faults.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../../src/core/kinds.ts';
import { type ClusterName, clusterName, parseResourceVersion } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { WorkScheduler } from '../../../src/core/scheduling/work-scheduler.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import type { ClusterPhase, ClusterStatus, MirrorReader, Mirrors, MirrorsChange, SyncState } from '../../../src/watch/mirrors.ts';

/** A mirror that the test fills. Its store is a real one. */
export interface FakeMirror extends MirrorReader {
  readonly store: MirrorStore;
  /** Replaces all objects by a list. The mirror is `SYNCED`. */
  list(...objects: readonly KubernetesObject[]): void;
  /** Adds or replaces an object. */
  put(object: KubernetesObject): void;
  remove(object: KubernetesObject): void;
  /** Makes the mirror fail: `STALE` if a list was complete before, else `SYNCING` with this fault. Readers do not wait for it. */
  fail(fault: Fault): void;
  /** Makes the mirror `SYNCING` until the next change, as during a request to the cluster. Readers wait for it. */
  await(): void;
  /** Reads the kind as this resource from now on, with the same content. */
  serve(resource: ServedResource): void;
  /** Removes all objects. Readers do not wait for the mirror. */
  refuse(fault: Fault): void;
  /** Makes reads of exactly these namespaces fail with `TOO_LARGE`, as if the mirror had no room for them. */
  leaveOut(...namespaces: readonly string[]): void;
  /** Lets the gateway list only these namespaces. Reads of others fail with `FORBIDDEN`. Without arguments: all namespaces. */
  confine(...namespaces: readonly string[]): void;
}

/** A cluster that the test controls. */
export interface FakeCluster {
  readonly name: ClusterName;
  /** Completes discovery with these resources. Mirrors read the versions that it names from then on. */
  discover(...resources: readonly ServedResource[]): void;
  /** Makes discovery fail, or the cluster unreachable. */
  fail(fault: Fault): void;
  /** Returns the mirror of a kind, and creates it if necessary. */
  mirror(kind: GroupKind): FakeMirror;
  leave(): void;
  /** Number of leases that were not released. */
  readonly leases: number;
}

/** `Mirrors` over real stores, without network and reflectors. Its time is that of the given clock. */
export interface FakeMirrors extends Mirrors {
  join(name: string, options?: { readonly version?: string }): FakeCluster;
  /** Number of callbacks for changes. */
  readonly followers: number;
}

/** Creates mirrors without clusters. */
export function createFakeMirrors(clock: Clock): FakeMirrors {
  const clusters = new Map<ClusterName, Cluster>();
  const scheduler = new WorkScheduler(clock);
  let names: ReadonlySet<ClusterName> | undefined;
  const readers = new Set<(change: MirrorsChange) => void>();
  const tell = (change: MirrorsChange) =>
    queueMicrotask(() => {
      for (const reader of [...readers]) reader(change);
    });

  const forget = (name: ClusterName) => {
    clusters.delete(name);
    names = undefined;
  };

  return {
    get followers() {
      return readers.size;
    },
    join(text, { version = 'v1.36.3' } = {}) {
      const name = clusterName(text);
      const cluster = createCluster({ name, version, clock, scheduler, tell, leave: () => forget(name) });
      clusters.set(name, cluster);
      names = undefined;
      tell({ type: 'joined', cluster: name });
      return cluster.handle;
    },
    members: () => {
      names ??= new Set([...clusters.keys()].sort());
      return names;
    },
    clusters: () => [...clusters.values()].map(({ state }) => state()).sort((a, b) => (a.name < b.name ? -1 : 1)),
    cluster: (name) => clusters.get(name)?.state(),
    servedKinds: (name) => clusters.get(name)?.state().resources,
    served: (name, kind) => clusters.get(name)?.served(kind),
    acquire(name, kind) {
      const cluster = clusters.get(name);
      if (cluster?.served(kind) === undefined) return undefined;
      return cluster.lease(kind);
    },
    peek: (name, kind) => clusters.get(name)?.peek(kind),
    whenDiscovered: (name, signal) => clusters.get(name)?.whenDiscovered(signal) ?? Promise.resolve(),
    onChange(callback, signal) {
      readers.add(callback);
      signal.addEventListener('abort', () => readers.delete(callback), { once: true });
    },
  };
}

interface ClusterOptions {
  readonly name: ClusterName;
  readonly version: string;
  readonly clock: Clock;
  readonly scheduler: WorkScheduler;
  readonly tell: (change: MirrorsChange) => void;
  readonly leave: () => void;
}

interface Cluster {
  readonly handle: FakeCluster;
  state(): ClusterStatus;
  served(kind: GroupKind): ServedResource | undefined;
  lease(kind: GroupKind): { readonly mirror: FakeMirror; [Symbol.dispose](): void };
  peek(kind: GroupKind): FakeMirror | undefined;
  whenDiscovered(signal: AbortSignal): Promise<void>;
}

function createCluster({ name, version, clock, scheduler, tell, leave }: ClusterOptions): Cluster {
  const mirrors = new Map<string, FakeMirror>();
  const discovered = createGate();
  let resources: readonly ServedResource[] | undefined;
  let phase: ClusterPhase = 'CONNECTING';
  let faults: readonly Fault[] = [];
  let leases = 0;
  const served = (kind: GroupKind) => resources?.find((resource) => keyOfKind(resource) === keyOfKind(kind));

  function mirror(kind: GroupKind): FakeMirror {
    const known = mirrors.get(keyOfKind(kind));
    if (known !== undefined) return known;
    const resource = served(kind);
    if (resource === undefined) throw new Error(`${name} does not serve ${keyOfKind(kind)}`);
    const made = createMirror({ cluster: name, resource, clock, scheduler, tell });
    mirrors.set(keyOfKind(kind), made);
    return made;
  }

  function change(next: { readonly phase: ClusterPhase; readonly faults: readonly Fault[] }): void {
    ({ phase, faults } = next);
    discovered.open();
    tell({ type: 'changed', cluster: name });
  }

  return {
    handle: {
      name,
      discover(...found) {
        for (const kind of resources ?? [])
          if (!found.some((resource) => keyOfKind(resource) === keyOfKind(kind))) mirrors.delete(keyOfKind(kind));
        resources = found;
        for (const resource of found) mirrors.get(keyOfKind(resource))?.serve(resource);
        change({ phase: 'SYNCED', faults: [] });
      },
      fail: (fault) => change({ phase: 'UNREACHABLE', faults: [fault] }),
      mirror,
      leave() {
        leave();
        for (const { store } of mirrors.values()) store.gone({ code: 'GONE', cluster: name, message: 'left', retry: 'NEVER' });
        discovered.open();
        tell({ type: 'left', cluster: name });
      },
      get leases() {
        return leases;
      },
    },
    state: () => ({ name, phase, faults, asOfMs: clock.now(), ...(resources === undefined ? {} : { resources, version }) }),
    served,
    lease(kind) {
      leases++;
      let open = true;
      return {
        mirror: mirror(kind),
        [Symbol.dispose]() {
          if (open) leases--;
          open = false;
        },
      };
    },
    peek: (kind) => mirrors.get(keyOfKind(kind)),
    whenDiscovered: discovered.passed,
  };
}

interface MirrorOptions {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
  readonly clock: Clock;
  readonly scheduler: WorkScheduler;
  readonly tell: (change: MirrorsChange) => void;
}

/** Each mirror has its own epoch. If a kind disappears and comes back, its new mirror has another one. */
let epochs = 0;

function createMirror({ cluster, resource, clock, scheduler, tell }: MirrorOptions): FakeMirror {
  const secret = keyOfKind(resource) === 'Secret';
  epochs += 1;
  const store = createStore({ epoch: `epoch-${epochs}`, clock, scheduler, policy: secret ? 'metadata' : 'parsed' });
  const settled = createGate();
  let state: SyncState = { phase: 'SYNCING' };
  let version = 100;
  let leftOut: ReadonlySet<string> = new Set();
  let confines: ReadonlySet<string> | undefined;
  const { group, kind } = resource;
  let served = resource;
  const tooMany: Fault = { code: 'TOO_LARGE', cluster, kind: { group, kind }, message: 'too many namespaces', retry: 'LATER' };
  const denied: Fault = { code: 'FORBIDDEN', cluster, kind: { group, kind }, message: 'some namespaces only', retry: 'NEVER' };
  const asking: Fault = { code: 'SYNCING', cluster, kind: { group, kind }, message: 'not whole yet', retry: 'LATER' };
  const nextVersion = () => parseResourceVersion(String(++version));

  function become(next: SyncState): void {
    state = next;
    settled.open();
    tell({ type: 'mirrored', cluster, kind: resource, sync: state, size: store.size });
  }
  const exactly = (object: KubernetesObject) => () => object;
  const whole = () => {
    store.synced();
    become({ phase: 'SYNCED', asOfMs: clock.now(), ...(store.version === undefined ? {} : { version: store.version }) });
  };

  return {
    cluster,
    get resource() {
      return served;
    },
    serve(next) {
      served = next;
    },
    store,
    sync: () => state,
    faults: () => [],
    unmirroredFault(asked) {
      if (confines !== undefined && asked.some((namespace) => confines?.has(namespace) === false)) return denied;
      return asked.some((namespace) => leftOut.has(namespace)) ? tooMany : undefined;
    },
    partialListFault: (visibility) =>
      confines === undefined || (visibility !== 'all' && visibility.isSubsetOf(confines)) ? undefined : denied,
    settled: settled.isOpen,
    whenSettled: settled.passed,
    list(...objects) {
      const stage = store.replace();
      for (const object of objects) stage.add(structuredClone(object), exactly(object));
      stage.commit(nextVersion());
      whole();
    },
    put(object) {
      store.applied(structuredClone(object), nextVersion(), exactly(object));
      whole();
    },
    remove(object) {
      store.deleted(object, nextVersion(), exactly(object));
      whole();
    },
    fail(fault) {
      store.failed(fault);
      become(state.asOfMs === undefined ? { phase: 'SYNCING', fault } : { ...state, phase: 'STALE', fault });
    },
    await: () => become({ phase: 'SYNCING', fault: asking }),
    refuse: (fault) => become({ phase: 'MISSING', fault }),
    leaveOut(...namespaces) {
      leftOut = new Set(namespaces);
      become(state);
    },
    confine(...namespaces) {
      confines = namespaces.length === 0 ? undefined : new Set(namespaces);
      become(state);
    },
  };
}

interface Gate {
  open(): void;
  isOpen(): boolean;
  passed(signal: AbortSignal): Promise<void>;
}

function createGate(): Gate {
  let open = false;
  const waiting = new Set<() => void>();
  return {
    open() {
      open = true;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    isOpen: () => open,
    passed: (signal) =>
      new Promise((resolve) => {
        if (open || signal.aborted) return resolve();
        waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
}
