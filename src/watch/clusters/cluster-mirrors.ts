import { hash, randomUUID } from 'node:crypto';
import { type Fault, fault, type Retry } from '../../core/faults.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { createStore } from '../../store/contents/store.ts';
import type { StoreEvent, StoreReader } from '../../store/mirror-store.ts';
import { createMirror, type MirrorPolicy, type OwnedMirror } from '../mirror/mirror.ts';
import type { ClusterPhase, ClusterStatus, MirrorLease, MirrorReader, SyncState } from '../mirrors.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import { type ClusterServer, createClusterServer } from '../server/cluster-server.ts';
import { isBuiltIn, supportsWatchList } from '../server/server-facts.ts';
import { type ClusterHealth, clusterHealthOf, distinctFaults } from './cluster-health.ts';
import { followCreatedNamespaces } from './created-namespaces.ts';
import { type CustomKinds, createCustomKinds } from './custom-kinds.ts';
import type { ClusterMirrorsOptions, ClusterProgress, EngagedCluster, FleetServices } from './engaged-cluster.ts';
import { HistoryComparison } from './history-comparison.ts';
import { MirrorLog } from './mirror-log.ts';
import { followOwnSecrets, type OwnSecrets, secretsResource } from './own-secrets.ts';
import { apiServiceKind, crdKind, namespaceKind, neverEvictedKinds, warmKeys, warmKindsOf } from './warm-kinds.ts';

interface Entry {
  readonly mirror: OwnedMirror;
  leases: number;
}

const readyAfterMs = 60_000;

/** Maximum number of concurrent reviews of rights, whatever namespaces queries name. Bounds the requests to a slow server. */
const reviewsAtOnce = 50;

const secretKey = keyOfKind({ group: '', kind: 'Secret' });

/**
 * All mirrors of one cluster, and its status. The first request is sent when `starts` has room. `end` stops all requests at once.
 *
 * A new mirror starts in `#create`, and continues in `src/watch/mirror/mirror.ts`.
 */
export class ClusterMirrors {
  readonly name: ClusterName;
  readonly #cluster: EngagedCluster;
  readonly #services: FleetServices;
  readonly #life = new AbortController();
  readonly #server: ClusterServer;
  readonly #customKinds: CustomKinds;
  readonly #entries = new Map<string, Entry>();
  readonly #mirrorLog: MirrorLog;
  readonly #reviews = createConcurrencyLimit(reviewsAtOnce);
  readonly #notStreamed = new Set<string>();
  readonly #joinedMs: number;
  readonly #followed = new WeakSet<StoreReader>();
  readonly #history = new HistoryComparison();
  /** Replaces the uid of the cluster in epochs if the uid cannot be read. No other gateway and no later run has these epochs. */
  readonly #unidentified = randomUUID();
  #watchListWorks = true;
  /** The settings at the last call of `redescribed`. */
  #described: Pick<EngagedCluster, 'namespaces' | 'secrets'>;
  #rediscoveries = 0;
  #readyOnce = false;
  #reported = '';
  #reportedPhase: ClusterPhase | undefined;
  #reportedResources: ClusterServer['resources'];

  constructor({ cluster, services, onExchanged }: ClusterMirrorsOptions) {
    this.name = cluster.name;
    this.#cluster = cluster;
    this.#services = services;
    this.#described = { namespaces: cluster.namespaces, secrets: cluster.secrets };
    this.#mirrorLog = new MirrorLog(cluster.name, services.log);
    this.#joinedMs = services.clock.monotonic();
    const [onDefined, onChanged] = [(kind: GroupKind) => this.#defined(kind), (kind: GroupKind) => this.#redefined(kind)];
    this.#customKinds = createCustomKinds({ onDefined, onChanged, onRemoved: (kind) => this.#removed(kind) });
    const listener = {
      onIdentified: () => this.#startWarm(),
      // Objects that were mirrored before the uid could be read may belong to another cluster.
      onRecognized: () => this.#relistAll(),
      onExchanged,
      onDiscovered: () => this.#discovered(),
      onIdentityRequest: () => this.#history.compare(() => this.#mirrors()),
      onUpgraded: () => this.#upgraded(),
      onBreakerChange: () => this.#mirrors().forEach((mirror) => void mirror.breakerChanged()),
      onChange: () => this.#changed(),
    };
    this.#server = createClusterServer({ ...services, api: cluster.api, listener }, this.#life.signal);
  }

  state(): ClusterStatus {
    const { answeredMs, version, uid, resourceList } = this.#server;
    const { clock } = this.#services;
    const health = this.#health();
    let activityMs = answeredMs ?? 0;
    for (const { mirror } of this.#entries.values()) activityMs = Math.max(activityMs, mirror.lastActivityMs ?? 0);
    return {
      name: this.name,
      phase: health.phase,
      faults: this.#faults(health),
      asOfMs: answeredMs === undefined ? undefined : clock.now() - (clock.monotonic() - activityMs),
      version,
      resources: resourceList,
      uid,
    };
  }

  progress(): ClusterProgress {
    this.#readyOnce ||= this.#isReady();
    const mirrors = this.#mirrors();
    const { phase, faults } = this.#health();
    return {
      cluster: this.name,
      phase,
      listing: mirrors.filter((mirror) => mirror.sync().phase === 'SYNCING').length,
      objects: mirrors.reduce((sum, { store, stagedCount }) => sum + store.size + stagedCount, 0),
      ready: this.#readyOnce,
      version: this.#server.version,
      fault: faults[0],
    };
  }

  get servedKinds(): readonly ServedResource[] | undefined {
    return this.#server.resourceList;
  }

  served(kind: GroupKind): ServedResource | undefined {
    return this.#server.resources?.get(keyOfKind(kind));
  }

  acquire(kind: GroupKind, namespaces: readonly string[]): MirrorLease | undefined {
    const resource = this.served(kind);
    if (resource === undefined || this.#life.signal.aborted) return undefined;
    const entry = this.#entry(resource);
    entry.leases++;
    this.#services.idle.remove(entry.mirror);
    entry.mirror.requestNamespaces(namespaces);
    let held = true;
    return {
      mirror: entry.mirror,
      [Symbol.dispose]: () => {
        if (held) this.#release(entry);
        held = false;
      },
    };
  }

  peek(kind: GroupKind): MirrorReader | undefined {
    return this.#entries.get(keyOfKind(kind))?.mirror;
  }

  /** Follows the Secrets of a namespace, or of all, for the gateway itself until the signal aborts or the mirrors end. */
  followSecrets(namespace: string | undefined, onChange: () => void, signal: AbortSignal): OwnSecrets {
    const { clock, log, scheduler } = this.#services;
    const newStore = () => createStore({ epoch: this.#unidentified, clock, log, scheduler, policy: 'metadata' });
    const streaming = () => this.#streaming(secretsResource, secretKey);
    const options = { context: this.#context(), namespace, createStore: newStore, streaming, onChange };
    return followOwnSecrets(options, AbortSignal.any([signal, this.#life.signal]));
  }

  whenDiscovered(signal: AbortSignal): Promise<void> {
    return this.#server.whenDiscovered(signal);
  }

  /** Follows changes of `namespaces`, `secrets` and credentials. Tries discovery and refused requests again at once. */
  redescribed(): void {
    const { namespaces, secrets } = this.#cluster;
    const [before, policy] = [new Set(this.#described.namespaces), this.#described.secrets];
    this.#described = { namespaces, secrets };
    const added = namespaces.filter((namespace) => !before.has(namespace));
    if (added.length > 0) this.#namespacesCreated(added);
    if ((policy === 'none') !== (secrets === 'none')) this.#withdraw(secretKey, 'the Secrets policy of the cluster has changed', 'NOW');
    this.#server.retry();
  }

  /** Call this method after the cluster answered a request of another part of the gateway. Ends the state `UNREACHABLE`. */
  answered(): void {
    if (this.#server.breaker.fault !== undefined) this.#server.breaker.answered();
  }

  /** Ends requests, empties the stores, and sends `gone` with the reason to readers. */
  end(message: string): void {
    this.#life.abort();
    const gone = fault('GONE', message, { cluster: this.name, retry: 'NEVER' });
    for (const [key] of [...this.#entries]) this.#endMirror(key, gone);
  }

  #mirrors(): readonly OwnedMirror[] {
    return [...this.#entries.values()].map(({ mirror }) => mirror);
  }

  #entry(resource: ServedResource): Entry {
    const key = keyOfKind(resource);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = { mirror: this.#create(resource, key), leases: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  #create(resource: ServedResource, key: string): OwnedMirror {
    const { clock, log, scheduler, onReport } = this.#services;
    const policy = this.#policyOf(key);
    const inMetadata = policy.fill === 'withheld' || policy.form === 'metadata';
    return createMirror({
      context: this.#context(),
      resource,
      policy,
      store: createStore({ epoch: this.#epochOf(resource, key), clock, log, scheduler, policy: inMetadata ? 'metadata' : 'parsed' }),
      candidates: () => this.#candidates(),
      candidatesKnown: (signal) => this.#namespacesKnown(signal),
      streaming: () => this.#streaming(resource, key),
      onSync: (sync) => this.#mirrorChanged(resource, sync),
      onMissing: () => this.#server.rediscover(500),
      onReport: (report) => {
        if (report.what === 'streamingRefused') this.#refusedStreaming(key, report.by);
        onReport(this.name, report);
      },
    });
  }

  #context(): ReflectorContext {
    const { clock, log, admission, pace } = this.#services;
    const { api, breaker } = this.#server;
    return { cluster: this.name, api, breaker, admission, pace, reviews: this.#reviews, clock, log };
  }

  #policyOf(key: string): MirrorPolicy {
    if (key === secretKey && this.#cluster.secrets === 'none') {
      return { fill: 'withheld', message: 'Secrets of this cluster are not mirrored: it is configured with secrets: none' };
    }
    return { fill: 'reflect', form: key === secretKey || this.#services.sensitiveKinds.has(key) ? 'metadata' : 'object' };
  }

  /** Returns an epoch, equal in all gateways that can read the uid. It changes if the cluster or the definition of the kind is replaced. */
  #epochOf({ group, version, kind }: ServedResource, key: string): string {
    const parts = [this.#server.uid ?? this.#unidentified, group, version, kind, this.#customKinds.get(key)?.uid ?? ''];
    return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16);
  }

  #candidates(): readonly string[] {
    const mirrored = this.#entries.get(keyOfKind(namespaceKind))?.mirror.store.objects() ?? [];
    return [...this.#cluster.namespaces, ...Array.from(mirrored, ({ metadata }) => metadata.name)];
  }

  #namespacesKnown(signal: AbortSignal): Promise<void> | undefined {
    const mirror = this.#entries.get(keyOfKind(namespaceKind))?.mirror;
    return mirror === undefined || mirror.settled() ? undefined : mirror.whenSettled(signal);
  }

  #streaming(resource: ServedResource, key: string): boolean {
    if (!this.#watchListWorks || this.#notStreamed.has(key) || !supportsWatchList(this.#server.version)) return false;
    return isBuiltIn(resource) || this.#customKinds.get(key) !== undefined;
  }

  #refusedStreaming(key: string, by: 'kind' | 'cluster'): void {
    if (by === 'cluster') this.#watchListWorks = false;
    else this.#notStreamed.add(key);
  }

  #release(entry: Entry): void {
    entry.leases--;
    const key = keyOfKind(entry.mirror.resource);
    if (entry.leases > 0 || this.#entries.get(key) !== entry || neverEvictedKinds.has(key)) return;
    const gone = fault('GONE', 'no request has read the kind for a while', { cluster: this.name, retry: 'NOW' });
    this.#services.idle.add(entry.mirror, () => {
      if (this.#entries.get(key) === entry) this.#endMirror(key, gone);
    });
  }

  #startWarm(): void {
    if (this.#life.signal.aborted) return;
    const { resources } = this.#server;
    const warm = warmKindsOf(this.#cluster).filter((kind) => resources === undefined || resources.has(keyOfKind(kind)));
    for (const kind of warm) this.#entry(resources?.get(keyOfKind(kind)) ?? kind);
    const apiServices = this.served(apiServiceKind);
    if (apiServices !== undefined) this.#entry(apiServices);
    this.#follow();
  }

  #follow(): void {
    const definitions = this.#entries.get(keyOfKind(crdKind))?.mirror.store;
    if (definitions !== undefined) this.#customKinds.follow(definitions, this.#life.signal);
    const namespaces = this.#entries.get(keyOfKind(namespaceKind))?.mirror;
    if (namespaces !== undefined && !this.#followed.has(namespaces.store)) {
      this.#followed.add(namespaces.store);
      void followCreatedNamespaces(namespaces, (names) => this.#namespacesCreated(names), this.#life.signal);
    }
    const apiServices = this.#entries.get(keyOfKind(apiServiceKind))?.mirror.store;
    if (apiServices === undefined || this.#followed.has(apiServices)) return;
    this.#followed.add(apiServices);
    const rediscover = (events: readonly StoreEvent[]) => {
      if (events.some(({ type }) => type === 'applied' || type === 'deleted')) this.#server.rediscover(2_000);
    };
    apiServices.follow(rediscover, this.#life.signal);
  }

  /** Passes the names of new namespaces to the mirrors, which review their rights there if their kind may not be listed in all namespaces. */
  #namespacesCreated(names: readonly string[]): void {
    for (const mirror of this.#mirrors()) mirror.namespacesCreated(names);
  }

  #discovered(): void {
    const { resources } = this.#server;
    if (resources === undefined) return;
    for (const [key, { mirror }] of [...this.#entries]) {
      const now = resources.get(key);
      if (now === undefined) this.#withdraw(key);
      else if (now.version !== mirror.resource.version || now.verbs.includes('watch') !== mirror.resource.verbs.includes('watch'))
        mirror.relist(now);
    }
    this.#startWarm();
    this.#awaitDefined(resources);
  }

  /** Discovers again, at most six times, while an established kind is not served yet. A server serves a new kind only after a delay. */
  #awaitDefined(resources: ReadonlyMap<string, ServedResource>): void {
    const missing = this.#customKinds.established().some((kind) => !resources.has(keyOfKind(kind)));
    this.#rediscoveries = missing ? this.#rediscoveries + 1 : 0;
    if (missing && this.#rediscoveries <= 6) this.#server.rediscover(250 * 2 ** this.#rediscoveries);
  }

  #defined(kind: GroupKind): void {
    if (this.#server.resources === undefined || this.served(kind) !== undefined) return;
    this.#rediscoveries = 0;
    this.#server.rediscover(250);
  }

  #redefined(kind: GroupKind): void {
    const mirror = this.#entries.get(keyOfKind(kind))?.mirror;
    mirror?.relist(mirror.resource);
    this.#server.rediscover(250);
  }

  #removed(kind: GroupKind): void {
    this.#server.forget(kind);
    this.#withdraw(keyOfKind(kind));
    this.#server.rediscover(250);
  }

  #withdraw(key: string, why = 'the kind is not served any more', retry: Retry = 'NEVER'): void {
    const mirror = this.#entries.get(key)?.mirror;
    this.#endMirror(key, fault('GONE', why, { cluster: this.name, retry }));
    if (mirror !== undefined) this.#mirrorChanged(mirror.resource, mirror.sync());
  }

  #endMirror(key: string, fault: Fault): void {
    const mirror = this.#entries.get(key)?.mirror;
    if (mirror === undefined) return;
    this.#entries.delete(key);
    this.#services.idle.remove(mirror);
    const { group, kind } = mirror.resource;
    mirror.end({ ...fault, kind: { group, kind } });
  }

  /** Handles a new version of the server: content may have changed, and WatchList may work now. */
  #upgraded(): void {
    this.#watchListWorks = true;
    this.#notStreamed.clear();
    this.#relistAll();
  }

  #relistAll(): void {
    for (const mirror of this.#mirrors()) mirror.relist(mirror.resource);
  }

  #mirrorChanged(kind: GroupKind, sync: SyncState): void {
    const size = this.#entries.get(keyOfKind(kind))?.mirror.store.size ?? 0;
    this.#services.onChange({ type: 'mirrored', cluster: this.name, kind: { group: kind.group, kind: kind.kind }, sync, size });
    const cluster = this.#server.breaker.fault === undefined ? 'reachable' : 'unreachable';
    this.#mirrorLog.write({ kind: keyOfKind(kind), sync, objects: size, cluster });
    this.#changed();
  }

  #changed(): void {
    if (this.#life.signal.aborted) return;
    const health = this.#health();
    const { phase, faults } = health;
    const { version, resources } = this.#server;
    const reported = JSON.stringify([phase, version, this.#faults(health).map(({ code, kind, message }) => [code, kind, message])]);
    if (reported === this.#reported && resources === this.#reportedResources) return;
    if (phase !== this.#reportedPhase) this.#mirrorLog.writePhase(phase, faults.at(0));
    [this.#reported, this.#reportedPhase, this.#reportedResources] = [reported, phase, resources];
    this.#services.onChange({ type: 'changed', cluster: this.name });
  }

  /** Returns the faults of the health and of the connection, each once, and one for each kind that may be listed in some namespaces only. */
  #faults({ faults }: ClusterHealth): readonly Fault[] {
    return distinctFaults([...faults, ...this.#cluster.api.connectionFaults, ...this.#mirrors().flatMap((mirror) => mirror.faults())]);
  }

  #health(): ClusterHealth {
    const { faults, breaker, answeredMs } = this.#server;
    const warm = warmKeys.flatMap((key) => this.#entries.get(key)?.mirror.fault ?? []);
    const connectionFaults = this.#cluster.api.connectionFaults;
    return clusterHealthOf({ answered: answeredMs !== undefined, breaker: breaker.fault, faults: [...faults, ...warm], connectionFaults });
  }

  #isReady(): boolean {
    if (this.#health().faults.length > 0 || this.#services.clock.monotonic() - this.#joinedMs >= readyAfterMs) return true;
    if (this.#server.resources === undefined) return false;
    return warmKeys.every((key) => (this.#entries.get(key)?.mirror.sync().phase ?? 'MISSING') !== 'SYNCING');
  }
}
