import type { Clock } from '../../core/clock.ts';
import { emptyHeapGauge, type HeapGauge } from '../../core/heap-gauge.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { ClusterStatus, MirrorLease, MirrorReader, Mirrors, MirrorsChange } from '../mirrors.ts';
import { createDecodePace } from '../reflector/decode-pace.ts';
import { type AdmissionLimits, admissionLimits, ListAdmission } from '../reflector/list-admission.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import { ClusterMirrors } from './cluster-mirrors.ts';
import type { ClusterProgress, EngagedCluster, FleetServices } from './engaged-cluster.ts';
import { createIdleMirrors } from './idle-mirrors.ts';
import type { OwnSecrets } from './own-secrets.ts';
import { createRefusedMirrors, type RefusedMirrors } from './refused-mirrors.ts';
import { ownKinds } from './warm-kinds.ts';

export type { ClusterProgress, EngagedCluster } from './engaged-cluster.ts';

export interface MirrorsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Kinds whose objects are mirrored as metadata only, by `keyOfKind`. Secrets always are such a kind. Default: no others. */
  readonly sensitiveKinds?: readonly string[];
  /** Maximum bytes of all idle mirrors together. Default: 256 MiB. */
  readonly maxIdleBytes?: number;
  /** Limits for lists that run at the same time. Default: 64 MiB in flight, and two lists per cluster. */
  readonly admission?: AdmissionLimits;
  /** Measures the heap. Default: a heap that is never full. */
  readonly heap?: HeapGauge;
  /** The scheduler in which readers receive changes. Default: a scheduler of these mirrors alone. */
  readonly scheduler?: WorkScheduler;
  /** Receives anomalies that an operator may want to count. */
  readonly onReport?: (cluster: ClusterName, report: WatchReport) => void;
}

/** The mirrors of all clusters, for their owner. Disposing of it ends all of them at once. */
export interface MirrorRegistry extends Mirrors, AsyncDisposable {
  /**
   * The mirrors for the gateway itself. They also have the definitions, Namespaces and RBAC objects of clusters with `reads: 'live'`. No
   * object of them may be shown to a caller.
   */
  readonly own: Mirrors;
  /**
   * Mirrors the cluster until the signal aborts. Then its requests end, its stores are emptied, readers receive `gone`, and it is no longer
   * a member. A cluster of the same name replaces an earlier one.
   *
   * If the uid of its `kube-system` changes, another cluster answers at the address. The mirrors then end in the same way, and new ones
   * begin.
   */
  engage(cluster: EngagedCluster, signal: AbortSignal): void;
  /**
   * Call this method after the description of a cluster changed, such as its credentials, namespaces or Secrets policy. Sends `changed` to
   * followers, and tries again requests whose credentials were refused. No mirror is listed again, except that Secrets are dropped or may be
   * mirrored from now on, as their policy says.
   */
  redescribed(cluster: ClusterName): void;
  /**
   * Call this method after the cluster has answered a request of another part of the gateway, even with an error. If the cluster counts as
   * unreachable, its mirrors try again at once, and do not wait for the next probe.
   */
  answered(cluster: ClusterName): void;
  /**
   * Follows the metadata of the Secrets in one namespace of the cluster, or in all, for the gateway itself. It ends when the signal aborts,
   * or when the cluster leaves. Undefined if the cluster is not a member.
   */
  followSecrets(cluster: ClusterName, namespace: string | undefined, onChange: () => void, signal: AbortSignal): OwnSecrets | undefined;
  /** True once each cluster has listed its warm kinds, has a fault, or joined more than 60 s ago. True without clusters. */
  ready(): boolean;
  /** Returns the progress of each cluster, in the order of `clusters`. */
  progress(): readonly ClusterProgress[];
}

const defaultIdleBytes = 256 << 20;

/** This many clusters start at a time: the first discovery of the others waits, so that a large fleet does not open all connections at once. */
const startsAtOnce = 20;

/** Creates the registry, which has no clusters yet. It evicts idle mirrors until it is disposed of. */
export function createMirrors(options: MirrorsOptions): MirrorRegistry {
  return new Registry(options);
}

class Registry implements MirrorRegistry {
  readonly own: Mirrors;
  readonly #services: FleetServices;
  readonly #life = new AbortController();
  readonly #members = new Map<ClusterName, ClusterMirrors>();
  /** The empty mirrors of clusters with `reads: 'live'`. */
  readonly #refused = new WeakMap<ClusterMirrors, RefusedMirrors>();
  readonly #callbacks = new Set<(change: MirrorsChange) => void>();
  #names: ReadonlySet<ClusterName> | undefined;
  #changes = new Map<string, MirrorsChange>();

  constructor({
    clock,
    log,
    sensitiveKinds = [],
    maxIdleBytes = defaultIdleBytes,
    admission = admissionLimits,
    heap = emptyHeapGauge,
    scheduler,
    onReport,
  }: MirrorsOptions) {
    this.#services = {
      clock,
      log,
      starts: createConcurrencyLimit(startsAtOnce),
      admission: new ListAdmission(admission, heap, this.#life.signal),
      pace: createDecodePace(clock),
      scheduler: scheduler ?? new WorkScheduler(clock),
      idle: createIdleMirrors({ clock, maxBytes: maxIdleBytes, heap }, this.#life.signal),
      sensitiveKinds: new Set(sensitiveKinds),
      onChange: (change) => this.#publish(change),
      onReport: (cluster, report) => {
        log.debug({ cluster, ...report }, 'watch report');
        onReport?.(cluster, report);
      },
    };
    this.own = this.#ownMirrors();
  }

  engage(cluster: EngagedCluster, signal: AbortSignal): void {
    if (signal.aborted || this.#life.signal.aborted) return;
    const { name } = cluster;
    this.#leave(name, this.#members.get(name));
    const join = (): ClusterMirrors => {
      const joined = new ClusterMirrors({ cluster, services: this.#services, onExchanged: exchange });
      this.#members.set(name, joined);
      if (cluster.reads === 'live') this.#refused.set(joined, createRefusedMirrors(name, this.#services.clock));
      this.#names = undefined;
      this.#publish({ type: 'joined', cluster: name });
      return joined;
    };
    const exchange = () => {
      const fault = 'another cluster answers at this address: its kube-system has another uid';
      this.#services.log.warn({ cluster: name, membership: 'exchanged' }, `cluster: ${fault}`);
      this.#leave(name, member, fault);
      member = join();
    };
    let member = join();
    signal.addEventListener('abort', () => this.#leave(name, member), { once: true });
  }

  redescribed(name: ClusterName): void {
    this.#members.get(name)?.redescribed();
    if (this.#members.has(name)) this.#publish({ type: 'changed', cluster: name });
  }

  answered(name: ClusterName): void {
    this.#members.get(name)?.answered();
  }

  followSecrets(cluster: ClusterName, namespace: string | undefined, onChange: () => void, signal: AbortSignal): OwnSecrets | undefined {
    return this.#members.get(cluster)?.followSecrets(namespace, onChange, signal);
  }

  members(): ReadonlySet<ClusterName> {
    this.#names ??= new Set(this.#ordered().map(({ name }) => name));
    return this.#names;
  }

  clusters(): readonly ClusterStatus[] {
    return this.#ordered().map((member) => member.state());
  }

  cluster(name: ClusterName): ClusterStatus | undefined {
    return this.#members.get(name)?.state();
  }

  servedKinds(cluster: ClusterName): readonly ServedResource[] | undefined {
    return this.#members.get(cluster)?.servedKinds;
  }

  served(cluster: ClusterName, kind: GroupKind): ServedResource | undefined {
    return this.#members.get(cluster)?.served(kind);
  }

  acquire(cluster: ClusterName, kind: GroupKind, options?: { readonly namespaces?: readonly string[] }): MirrorLease | undefined {
    const member = this.#members.get(cluster);
    const refused = member && this.#refused.get(member);
    if (refused === undefined) return member?.acquire(kind, options?.namespaces ?? []);
    const resource = member?.served(kind);
    return resource && refused.acquire(resource);
  }

  peek(cluster: ClusterName, kind: GroupKind): MirrorReader | undefined {
    const member = this.#members.get(cluster);
    const refused = member && this.#refused.get(member);
    if (refused === undefined) return member?.peek(kind);
    const resource = member?.served(kind);
    return resource && refused.peek(resource);
  }

  whenDiscovered(cluster: ClusterName, signal: AbortSignal): Promise<void> {
    return this.#members.get(cluster)?.whenDiscovered(signal) ?? Promise.resolve();
  }

  onChange(callback: (change: MirrorsChange) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    // A function of its own for each call, because one callback may be given twice.
    const own = (change: MirrorsChange) => callback(change);
    this.#callbacks.add(own);
    signal.addEventListener('abort', () => this.#callbacks.delete(own), { once: true });
  }

  ready(): boolean {
    return this.progress().every(({ ready }) => ready);
  }

  progress(): readonly ClusterProgress[] {
    return this.#ordered().map((member) => member.progress());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [name, member] of [...this.#members]) this.#leave(name, member);
    this.#life.abort();
    this.#callbacks.clear();
  }

  #ownMirrors(): Mirrors {
    const isOwn = (kind: GroupKind) => ownKinds.has(keyOfKind(kind));
    return {
      members: () => this.members(),
      clusters: () => this.clusters(),
      cluster: (name) => this.cluster(name),
      servedKinds: (cluster) => this.servedKinds(cluster),
      served: (cluster, kind) => this.served(cluster, kind),
      acquire: (cluster, kind, options) =>
        isOwn(kind) ? this.#members.get(cluster)?.acquire(kind, options?.namespaces ?? []) : this.acquire(cluster, kind, options),
      peek: (cluster, kind) => (isOwn(kind) ? this.#members.get(cluster)?.peek(kind) : this.peek(cluster, kind)),
      whenDiscovered: (cluster, signal) => this.whenDiscovered(cluster, signal),
      onChange: (callback, signal) => this.onChange(callback, signal),
    };
  }

  #leave(name: ClusterName, member: ClusterMirrors | undefined, reason = 'the cluster has left the fleet'): void {
    if (member === undefined || this.#members.get(name) !== member) return;
    this.#members.delete(name);
    this.#names = undefined;
    member.end(reason);
    // Drops the waiting changes of a cluster that has left.
    for (const [key, { cluster, type }] of this.#changes) if (cluster === name && type !== 'joined') this.#changes.delete(key);
    this.#publish({ type: 'left', cluster: name });
  }

  #ordered(): readonly ClusterMirrors[] {
    return [...this.#members.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Sends a change in a microtask. Of several changes of one type, cluster and kind until then, only the last one is sent. */
  #publish(change: MirrorsChange): void {
    const key = `${change.type} ${'kind' in change ? keyOfKind(change.kind) : ''} ${change.cluster}`;
    if (this.#changes.size === 0) queueMicrotask(() => this.#flush());
    this.#changes.delete(key);
    this.#changes.set(key, change);
  }

  #flush(): void {
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    for (const change of changes) {
      for (const callback of [...this.#callbacks]) this.#call(callback, change);
    }
  }

  /** Calls one callback. If the callback throws, logs the error, so that the other callbacks are still called. */
  #call(callback: (change: MirrorsChange) => void, change: MirrorsChange): void {
    try {
      callback(change);
    } catch (error) {
      this.#services.log.error({ cluster: change.cluster, err: loggableError(error) }, 'a follower of the mirrors threw');
    }
  }
}
