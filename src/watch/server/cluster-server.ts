import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { discover } from '../../cluster/discovery.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type GroupKind, keyOfKind, kindsByKey, type ServedResource } from '../../core/kinds.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { Waiters } from '../../core/scheduling/waiters.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createDiscoveryLoop, type DiscoveryLoop } from './discovery-loop.ts';
import { createIdentityChecks, type IdentityChecks } from './identity-checks.ts';
import { observeApi } from './observed-api.ts';
import { gitVersionIn, readIdentity, readServerFacts, type ServerFacts } from './server-facts.ts';

/** The facts about the server of one cluster, and whether it can be reached. */
export interface ClusterServer {
  /** The observed API: each of its answers shows that the cluster can be reached. */
  readonly api: ClusterApi;
  readonly breaker: Breaker;
  /** Monotonic time of the last answer. Undefined before the first. */
  readonly answeredMs: number | undefined;
  readonly version: string | undefined;
  readonly uid: string | undefined;
  /** The served kinds, by `keyOfKind`. Undefined before the first successful discovery. */
  readonly resources: ReadonlyMap<string, ServedResource> | undefined;
  /**
   * The same kinds as a list. It is the same list until `resources` changes, so that readers can compare it by identity. Clusters that serve
   * the same kinds usually share it.
   */
  readonly resourceList: readonly ServedResource[] | undefined;
  /** The faults of the connection, of the version, of discovery, and of groups that the server cannot serve. */
  readonly faults: readonly Fault[];
  /** Begins the next discovery within this time, but at the earliest 0.5 s after the last one has ended. */
  rediscover(ms: number): void;
  /**
   * Tries discovery again at once, and wakes reflectors whose credentials were refused. Call this method when the credentials may have
   * changed.
   */
  retry(): void;
  /** Removes a kind from `resources` until the next discovery. Call this method after the kind was removed from the cluster. */
  forget(kind: GroupKind): void;
  /** Resolves once discovery has succeeded or failed, or when the signal aborts. */
  whenDiscovered(signal: AbortSignal): Promise<void>;
}

/** Receives changes of the server. */
interface ServerListener {
  /** The server has answered for the first time, so mirrors may start. */
  onIdentified(): void;
  /** Called when the uid becomes readable after mirrors may have started. */
  onRecognized(): void;
  /** Called when another cluster answers at this address: its uid differs. All facts about the former cluster are then void. */
  onExchanged(): void;
  /** Discovery has succeeded. */
  onDiscovered(): void;
  /**
   * Called before the gateway requests the newest resourceVersion of the cluster. The returned function receives it. If a mirror had a later one
   * before the request, the server has lost part of its history.
   */
  onIdentityRequest(): (revision: ResourceVersion) => void;
  /** The server has another version of Kubernetes than before. */
  onUpgraded(): void;
  /** The breaker has opened or closed. */
  onBreakerChange(): void;
  /** The result of a getter may have changed. */
  onChange(): void;
}

interface ClusterServerOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  /** Limits how many clusters start at a time. The first discovery runs in it. */
  readonly starts: ConcurrencyLimit;
  /** `rest` resolves in a later event-loop turn. Of several callers one resolves in each turn, so one cluster starts in each turn. */
  readonly pace: { rest(): Promise<void> };
  readonly listener: ServerListener;
}

/** Creates the server. It begins requests when `starts` has room, and ends when the signal aborts. */
export function createClusterServer(options: ClusterServerOptions, signal: AbortSignal): ClusterServer {
  return new ObservedServer(options, signal);
}

/** Milliseconds after which a cluster that does not answer makes room for the start of another one. */
const maxStartMs = 2_000;

class ObservedServer implements ClusterServer {
  readonly api: ClusterApi;
  readonly breaker: Breaker;
  readonly #listener: ServerListener;
  readonly #loop: DiscoveryLoop;
  readonly #checks: IdentityChecks;
  readonly #waiters = new Waiters();
  #answeredMs: number | undefined;
  #version: string | undefined;
  #uid: string | undefined;
  #identified = false;
  #attempted = false;
  #partial: readonly Fault[] = [];
  #etag: string | undefined;
  #resourceList: readonly ServedResource[] | undefined;
  #versionFault: Fault | undefined;
  #discoveryFault: Fault | undefined;

  constructor({ api, clock, starts, pace, listener }: ClusterServerOptions, signal: AbortSignal) {
    this.#listener = listener;
    this.api = observeApi(api, {
      answered: () => this.#answered(clock.monotonic()),
      failed: (fault) => this.breaker.failed(fault),
      opened: () => this.#checks.soon(),
    });
    this.breaker = createBreaker({ clock, probe: (until) => this.#probe(until), onChange: () => this.#breakerChanged() }, signal);
    const discoverFirst = async (until: AbortSignal) => {
      const start = async () => {
        // Without this pause, clusters that join together begin their handshakes in the same event-loop turn, and their answers also arrive together.
        await pace.rest();
        if (until.aborted) return { done: false };
        const done = this.#discover(until);
        await Promise.race([done, clock.sleep(maxStartMs, until)]);
        return { done };
      };
      return (await (await starts.run(start, until))?.done) ?? false;
    };
    const discover = (until: AbortSignal) => (this.#attempted ? this.#discover(until) : discoverFirst(until));
    this.#loop = createDiscoveryLoop({ clock, discover }, signal);
    this.#checks = createIdentityChecks({ clock, check: (until) => this.#check(until) }, signal);
  }

  get answeredMs(): number | undefined {
    return this.#answeredMs;
  }

  get version(): string | undefined {
    return this.#version;
  }

  get uid(): string | undefined {
    return this.#uid;
  }

  get resources(): ReadonlyMap<string, ServedResource> | undefined {
    return this.#resourceList && kindsByKey(this.#resourceList);
  }

  get resourceList(): readonly ServedResource[] | undefined {
    return this.#resourceList;
  }

  get faults(): readonly Fault[] {
    const own = [this.breaker.fault, this.#versionFault, this.#discoveryFault].filter((fault) => fault !== undefined);
    return [...own, ...this.#partial];
  }

  rediscover(ms: number): void {
    this.#loop.soon(ms);
  }

  retry(): void {
    this.#loop.soon(0);
    this.breaker.wake();
  }

  forget(kind: GroupKind): void {
    if (this.resources?.has(keyOfKind(kind)) !== true) return;
    this.#resourceList = this.#resourceList?.filter((resource) => keyOfKind(resource) !== keyOfKind(kind));
    // The server may still answer with the ETag from before the removal.
    this.#etag = undefined;
    this.#listener.onChange();
  }

  whenDiscovered(signal: AbortSignal): Promise<void> {
    return this.#attempted ? Promise.resolve() : this.#waiters.wait(signal);
  }

  #answered(nowMs: number): void {
    const first = this.#answeredMs === undefined;
    this.#answeredMs = nowMs;
    this.breaker.answered();
    if (first) this.#listener.onChange();
  }

  #breakerChanged(): void {
    // Discovers at once, because the served kinds may have changed during the outage.
    if (this.breaker.fault === undefined) this.#loop.soon(0);
    this.#listener.onBreakerChange();
    this.#listener.onChange();
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const answer = await this.api.send({ method: 'GET', path: ['version'] }, signal);
    if (answer.type === 'answered') this.#updateVersion(gitVersionIn(answer.body));
  }

  async #discover(signal: AbortSignal): Promise<boolean> {
    const known = {
      known: this.#resourceList ?? [],
      etag: this.#etag,
    };
    const [, found] = await Promise.all([this.#identify(signal), discover(this.api, known, signal)]);
    if (signal.aborted) return false;
    this.#discoveryFault = found.type === 'failed' ? found.fault : undefined;
    if (found.type === 'discovered') {
      this.#partial = found.partial;
      this.#etag = found.etag;
      this.#resourceList = found.resources;
    }
    this.#attempted = true;
    if (found.type !== 'failed') this.#listener.onDiscovered();
    this.#waiters.wake();
    this.#listener.onChange();
    // A request for the version that failed is a fault of the cluster, so it is not left until the next regular discovery.
    return found.type !== 'failed' && this.#identified && this.#versionFault === undefined;
  }

  /** Identifies the server. Any answer is enough, because a server may refuse to report its version. */
  async #identify(signal: AbortSignal): Promise<void> {
    const onRevision = this.#listener.onIdentityRequest();
    const { version, fault, ...identity } = await readServerFacts(this.api, signal);
    if (signal.aborted) return;
    this.#updateIdentity(identity, onRevision);
    if (signal.aborted) return;
    this.#updateVersion(version);
    this.#versionFault = fault?.code === 'FORBIDDEN' ? undefined : fault;
    if (this.#identified || (version === undefined && fault?.status === undefined)) return;
    this.#identified = true;
    this.#listener.onIdentified();
  }

  /** Checks the identity, unless the breaker is open. After an outage, discovery checks it. */
  async #check(signal: AbortSignal): Promise<void> {
    if (!this.#identified || this.breaker.fault !== undefined) return;
    const onRevision = this.#listener.onIdentityRequest();
    const identity = await readIdentity(this.api, signal);
    if (!signal.aborted) this.#updateIdentity(identity, onRevision);
  }

  #updateIdentity({ uid, revision }: Pick<ServerFacts, 'uid' | 'revision'>, onRevision: (revision: ResourceVersion) => void): void {
    const before = this.#uid;
    if (uid !== undefined && before !== undefined && uid !== before) {
      this.#listener.onExchanged();
      return;
    }
    if (revision !== undefined) onRevision(revision);
    if (uid === undefined || uid === before) return;
    this.#uid = uid;
    if (this.#identified) this.#listener.onRecognized();
    this.#listener.onChange();
  }

  #updateVersion(version: string | undefined): void {
    const before = this.#version;
    if (version === undefined || version === before) return;
    this.#version = version;
    if (before !== undefined) this.#listener.onUpgraded();
    this.#listener.onChange();
  }
}
