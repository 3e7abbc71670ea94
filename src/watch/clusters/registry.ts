import type { Clock } from '../../core/clock.ts';
import { emptyHeapGauge, type HeapGauge } from '../../core/heap-gauge.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { ClusterStatus, MirrorLease, MirrorReader, Mirrors, MirrorsChange } from '../mirrors.ts';
import { createDecodePace } from '../reflector/decode-pace.ts';
import { type AdmissionLimits, admissionLimits, ListAdmission } from '../reflector/list-admission.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import { ClusterMirrors } from './cluster-mirrors.ts';
import type { ClusterProgress, EngagedCluster, FleetServices } from './engaged-cluster.ts';
import { createIdleMirrors } from './idle-mirrors.ts';

export type { ClusterProgress, EngagedCluster } from './engaged-cluster.ts';

export interface MirrorsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Kinds of which only metadata is mirrored, by `keyOfKind`; Secrets always are. None by default. */
  readonly sensitiveKinds?: readonly string[];
  /** What idle mirrors may hold together; 256 MiB by default. */
  readonly maxIdleBytes?: number;
  /** What first lists may have in flight; 64 MiB, and two lists per cluster, by default. */
  readonly admission?: AdmissionLimits;
  /** How full the heap is; one that has room for everything by default. */
  readonly heap?: HeapGauge;
  /** The row in which readers are told what changes; one of its own by default. */
  readonly scheduler?: WorkScheduler;
  /** Told of what an operator may want to count. */
  readonly onReport?: (cluster: ClusterName, report: WatchReport) => void;
}

/** All mirrors of all clusters, for the one who owns them. Disposing it ends them all, at once. */
export interface MirrorRegistry extends Mirrors, AsyncDisposable {
  /**
   * Mirrors the cluster until the signal aborts: then its requests end, its stores are wiped, their readers are told `gone`, and it is no
   * longer a member. One of the same name takes the place of the other.
   *
   * If the uid of its `kube-system` changes, another cluster answers at the address: the mirrors end in the same way, and new ones begin.
   */
  engage(cluster: EngagedCluster, signal: AbortSignal): void;
  /**
   * The cluster is described otherwise, perhaps with other credentials: followers are told `changed`, and what waits because the credentials were
   * refused is tried again.
   */
  redescribed(cluster: ClusterName): void;
  /** True once each cluster's warm kinds are whole, or it has a fault, or 60 s have gone since it joined. With no cluster, true. */
  ready(): boolean;
  /** How far each cluster is, in the order of `clusters`. */
  progress(): readonly ClusterProgress[];
}

const defaultIdleBytes = 256 << 20;

/** More clusters than this that join together are spread over 10 s per 100. */
const startedAtOnce = 20;
const spreadMsPerCluster = 100;

/** No cluster yet; nothing runs but the sweep of idle mirrors. */
export function createMirrors(options: MirrorsOptions): MirrorRegistry {
  return new Registry(options);
}

class Registry implements MirrorRegistry {
  readonly #wide: FleetServices;
  readonly #life = new AbortController();
  readonly #members = new Map<ClusterName, ClusterMirrors>();
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
    this.#wide = {
      clock,
      log,
      admission: new ListAdmission(admission, heap, this.#life.signal),
      pace: createDecodePace(clock),
      scheduler: scheduler ?? new WorkScheduler(clock),
      idle: createIdleMirrors({ clock, maxBytes: maxIdleBytes, heap }, this.#life.signal),
      sensitiveKinds: new Set(sensitiveKinds),
      onChange: (change) => this.#tell(change),
      onReport: (cluster, report) => {
        log.debug({ cluster, ...report }, 'watch report');
        onReport?.(cluster, report);
      },
    };
  }

  engage(cluster: EngagedCluster, signal: AbortSignal): void {
    if (signal.aborted || this.#life.signal.aborted) return;
    const { name } = cluster;
    this.#leave(name, this.#members.get(name));
    const crowd = Math.max(0, this.#members.size - startedAtOnce);
    const join = (delayMs: number): ClusterMirrors => {
      const joined = new ClusterMirrors({ cluster, services: this.#wide, delayMs, onExchanged: exchange });
      this.#members.set(name, joined);
      this.#names = undefined;
      this.#tell({ type: 'joined', cluster: name });
      return joined;
    };
    const exchange = () => {
      const fault = 'another cluster answers at this address: its kube-system has another uid';
      this.#wide.log.warn({ cluster: name, membership: 'exchanged' }, `cluster: ${fault}`);
      this.#leave(name, member, fault);
      member = join(0);
    };
    let member = join(crowd * spreadMsPerCluster * this.#wide.clock.random());
    signal.addEventListener('abort', () => this.#leave(name, member), { once: true });
  }

  redescribed(name: ClusterName): void {
    this.#members.get(name)?.retry();
    if (this.#members.has(name)) this.#tell({ type: 'changed', cluster: name });
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

  served(cluster: ClusterName, kind: GroupKind): ServedResource | undefined {
    return this.#members.get(cluster)?.served(kind);
  }

  acquire(cluster: ClusterName, kind: GroupKind, options?: { readonly namespaces?: readonly string[] }): MirrorLease | undefined {
    return this.#members.get(cluster)?.acquire(kind, options?.namespaces ?? []);
  }

  peek(cluster: ClusterName, kind: GroupKind): MirrorReader | undefined {
    return this.#members.get(cluster)?.peek(kind);
  }

  whenDiscovered(cluster: ClusterName, signal: AbortSignal): Promise<void> {
    return this.#members.get(cluster)?.whenDiscovered(signal) ?? Promise.resolve();
  }

  onChange(callback: (change: MirrorsChange) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    // One of its own, as the same function may be given twice.
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

  #leave(name: ClusterName, member: ClusterMirrors | undefined, reason = 'the cluster has left the fleet'): void {
    if (member === undefined || this.#members.get(name) !== member) return;
    this.#members.delete(name);
    this.#names = undefined;
    member.end(reason);
    // What it was about to say of itself is no longer so.
    for (const [key, { cluster, type }] of this.#changes) if (cluster === name && type !== 'joined') this.#changes.delete(key);
    this.#tell({ type: 'left', cluster: name });
  }

  #ordered(): readonly ClusterMirrors[] {
    return [...this.#members.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Told at the end of the turn, the last of equals only. */
  #tell(change: MirrorsChange): void {
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

  /** One that throws must not keep the others from hearing. */
  #call(callback: (change: MirrorsChange) => void, change: MirrorsChange): void {
    try {
      callback(change);
    } catch (error) {
      this.#wide.log.error({ cluster: change.cluster, err: loggableError(error) }, 'a follower of the mirrors threw');
    }
  }
}
