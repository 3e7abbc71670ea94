import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { discover } from '../../cluster/discovery.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createDiscoveryLoop, type DiscoveryLoop } from './discovery-loop.ts';
import { createIdentityChecks, type IdentityChecks } from './identity-checks.ts';
import { observeApi } from './observed-api.ts';
import { gitVersionIn, readIdentity, readServerFacts, type ServerFacts } from './server-facts.ts';

/** What one cluster's server has said of itself, and whether it can be reached. */
export interface ClusterServer {
  /** Every answer to a request made with it is a sign of life. */
  readonly api: ClusterApi;
  readonly breaker: Breaker;
  /** Monotonic time of the last answer; undefined before the first. */
  readonly answeredMs: number | undefined;
  readonly version: string | undefined;
  readonly uid: string | undefined;
  /** By `keyOfKind`; undefined before the first discovery that succeeded. */
  readonly resources: ReadonlyMap<string, ServedResource> | undefined;
  /** Why it cannot be reached or asked, and which groups it cannot serve. */
  readonly faults: readonly Fault[];
  /** Discovery again, after that time at the latest. */
  rediscover(ms: number): void;
  /** The credentials may be others now: discovery, and reflectors whose credentials were refused, try again at once. */
  retry(): void;
  /** The kind has been taken away: it is not served any more, until discovery says so. */
  forget(kind: GroupKind): void;
  /** Resolves once discovery has succeeded or failed, or when the signal aborts. */
  whenDiscovered(signal: AbortSignal): Promise<void>;
}

/** What follows from what the server says. */
interface ServerListener {
  /** It has answered for the first time: mirrors may start. */
  onIdentified(): void;
  /** Called when the uid becomes readable after mirrors may have started. */
  onRecognized(): void;
  /** Called when another cluster answers at this address: its uid differs. All facts about the former cluster are then void. */
  onExchanged(): void;
  /** Discovery has succeeded. */
  onDiscovered(): void;
  /**
   * It is about to be asked for the most recent version of what it stores. What is given back is told the answer: a version that is older
   * than one seen before the question is of another history.
   */
  onIdentityRequest(): (revision: ResourceVersion) => void;
  /** Another version of Kubernetes answers than before. */
  onUpgraded(): void;
  /** The breaker has opened or closed. */
  onBreakerChange(): void;
  /** Any of the getters may say another thing. */
  onChange(): void;
}

interface ClusterServerOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  /** How long the first request waits. */
  readonly delayMs: number;
  readonly listener: ServerListener;
}

/** Begins to ask after the delay, and goes on until the signal aborts. */
export function createClusterServer(options: ClusterServerOptions, signal: AbortSignal): ClusterServer {
  return new AskedServer(options, signal);
}

class AskedServer implements ClusterServer {
  readonly api: ClusterApi;
  readonly breaker: Breaker;
  readonly #listener: ServerListener;
  readonly #loop: DiscoveryLoop;
  readonly #checks: IdentityChecks;
  readonly #waiters = new Set<() => void>();
  #answeredMs: number | undefined;
  #version: string | undefined;
  #uid: string | undefined;
  #identified = false;
  #attempted = false;
  #partial: readonly Fault[] = [];
  #etag: string | undefined;
  #resources: ReadonlyMap<string, ServedResource> | undefined;
  #versionFault: Fault | undefined;
  #discoveryFault: Fault | undefined;

  constructor({ api, clock, delayMs, listener }: ClusterServerOptions, signal: AbortSignal) {
    this.#listener = listener;
    this.api = observeApi(api, {
      answered: () => this.#answered(clock.monotonic()),
      failed: (fault) => this.breaker.failed(fault),
      opened: () => this.#checks.soon(),
    });
    this.breaker = createBreaker({ clock, probe: (until) => this.#probe(until), onChange: () => this.#breakerChanged() }, signal);
    this.#loop = createDiscoveryLoop({ clock, delayMs, discover: (until) => this.#discover(until) }, signal);
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
    return this.#resources;
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
    if (this.#resources === undefined || !this.#resources.has(keyOfKind(kind))) return;
    const others = new Map(this.#resources);
    others.delete(keyOfKind(kind));
    this.#resources = others;
    // The server may not know yet that it has changed.
    this.#etag = undefined;
    this.#listener.onChange();
  }

  whenDiscovered(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#attempted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiters.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#waiters.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  #answered(nowMs: number): void {
    const first = this.#answeredMs === undefined;
    this.#answeredMs = nowMs;
    this.breaker.answered();
    if (first) this.#listener.onChange();
  }

  #breakerChanged(): void {
    // What changed while it was away is worth a look at once.
    if (this.breaker.fault === undefined) this.#loop.soon(0);
    this.#listener.onBreakerChange();
    this.#listener.onChange();
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const answer = await this.api.send({ method: 'GET', path: ['version'] }, signal);
    if (answer.type === 'answered') this.#heardVersion(gitVersionIn(answer.body));
  }

  async #discover(signal: AbortSignal): Promise<boolean> {
    const known = {
      known: [...(this.#resources?.values() ?? [])],
      etag: this.#etag,
    };
    const [, found] = await Promise.all([this.#identify(signal), discover(this.api, known, signal)]);
    if (signal.aborted) return false;
    this.#discoveryFault = found.type === 'failed' ? found.fault : undefined;
    if (found.type === 'discovered') {
      this.#partial = found.partial;
      this.#etag = found.etag;
      this.#resources = new Map(found.resources.map((resource) => [keyOfKind(resource), resource]));
    }
    this.#attempted = true;
    if (found.type !== 'failed') this.#listener.onDiscovered();
    for (const resolve of [...this.#waiters]) resolve();
    this.#listener.onChange();
    return found.type !== 'failed' && this.#identified;
  }

  /** An answer of any kind will do: a server may keep its version to itself. */
  async #identify(signal: AbortSignal): Promise<void> {
    const heardRevision = this.#listener.onIdentityRequest();
    const { version, fault, ...identity } = await readServerFacts(this.api, signal);
    if (signal.aborted) return;
    this.#heardIdentity(identity, heardRevision);
    if (signal.aborted) return;
    this.#heardVersion(version);
    this.#versionFault = fault?.code === 'FORBIDDEN' ? undefined : fault;
    if (this.#identified || (version === undefined && fault?.status === undefined)) return;
    this.#identified = true;
    this.#listener.onIdentified();
  }

  /** Checks the identity, unless the breaker reports a fault: it then finds the cluster again, and discovery follows. */
  async #check(signal: AbortSignal): Promise<void> {
    if (!this.#identified || this.breaker.fault !== undefined) return;
    const heardRevision = this.#listener.onIdentityRequest();
    const identity = await readIdentity(this.api, signal);
    if (!signal.aborted) this.#heardIdentity(identity, heardRevision);
  }

  #heardIdentity({ uid, revision }: Pick<ServerFacts, 'uid' | 'revision'>, heardRevision: (revision: ResourceVersion) => void): void {
    const before = this.#uid;
    if (uid !== undefined && before !== undefined && uid !== before) {
      this.#listener.onExchanged();
      return;
    }
    if (revision !== undefined) heardRevision(revision);
    if (uid === undefined || uid === before) return;
    this.#uid = uid;
    if (this.#identified) this.#listener.onRecognized();
    this.#listener.onChange();
  }

  #heardVersion(version: string | undefined): void {
    const before = this.#version;
    if (version === undefined || version === before) return;
    this.#version = version;
    if (before !== undefined) this.#listener.onUpgraded();
    this.#listener.onChange();
  }
}
