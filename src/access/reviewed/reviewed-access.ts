import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import { untilAborted } from '../../core/scheduling/until-aborted.ts';
import type { MemberObjects } from '../../store/member-objects.ts';
import type { Access, AccessRequest, Caller, Visibility } from '../access.ts';
import { DecisionCache } from '../decisions/decision-cache.ts';
import { DecisionCounts } from '../decisions/decision-counts.ts';
import { deniedRight, type OwnRights, type RightAnswer, type RightQuestion, unknownRight } from '../rights/own-rights.ts';
import { type CallerInCluster, type KnownUser, knownUserIn } from './caller-in-cluster.ts';
import { type AccessMember, type AccessServices, type AuthenticatedCaller, ClusterAccess, nothingVisible } from './cluster-access.ts';

interface ReviewedAccessOptions {
  /** Reads the mirrors of RBAC objects, and the kinds that clusters serve. */
  readonly objects: MemberObjects;
  readonly clock: Clock;
  readonly log: Log;
}

/** The access of authenticated callers. Its owner adds clusters with `engage`. */
export interface OwnedAccess extends Access, OwnRights {
  /** Checks rights in the cluster until the signal aborts. A cluster of the same name replaces an earlier one. */
  engage(member: AccessMember, signal: AbortSignal): void;
  /** The decisions since the start. */
  readonly counts: Pick<DecisionCounts, 'decisions' | 'disagreements'>;
}

/** Maximum number of pairs of a caller and a cluster that are remembered. */
const maxCallersInClusters = 200_000;

/** Maximum number of callers whose user and last `prepare` are remembered. */
const maxPrepared = 10_000;

/** Maximum characters of the names of objects and namespaces in Kubernetes. */
const maxNameLength = 253;
const maxNamespaceLength = 63;

/** Milliseconds that an operation waits to know which clusters its caller may see. */
const prepareMs = 2_000;

/** Milliseconds from a change of rights to the calls of `onChange`. Changes in this time are reported together. */
const gatherMs = 100;

/** Creates the access of authenticated callers: see `ClusterAccess`. It ends when the signal aborts. */
export function createReviewedAccess(options: ReviewedAccessOptions, signal: AbortSignal): OwnedAccess {
  return new ReviewedAccess(options, signal);
}

class ReviewedAccess implements OwnedAccess {
  readonly counts = new DecisionCounts();
  readonly #options: ReviewedAccessOptions;
  readonly #signal: AbortSignal;
  readonly #services: AccessServices;
  readonly #clusters = new Map<ClusterName, ClusterAccess>();
  readonly #callers = new LRUCache<string, CallerInCluster>({ max: maxCallersInClusters });
  /** The users of callers, by caller and prefixes. */
  readonly #users = new LRUCache<string, KnownUser>({ max: maxPrepared });
  /** By caller: the monotonic time until which it is known whether each cluster is visible, and the value of `#changes` when this was found out. */
  readonly #prepared = new LRUCache<string, { readonly untilMs: number; readonly changes: number }>({ max: maxPrepared });
  readonly #callbacks = new Set<(cluster: ClusterName) => void>();
  readonly #gathered = new Set<ClusterName>();
  #changes = 0;
  #lastId = 0;

  constructor(options: ReviewedAccessOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const { objects, clock, log } = options;
    this.#services = {
      objects,
      clock,
      log,
      cache: new DecisionCache(clock, signal),
      counts: this.counts,
      callerIn: (key, create) => valueIn(this.#callers, key, create),
      userIn: (identity, { key, user }) => {
        const prefixes = JSON.stringify([key, identity?.userPrefix, identity?.groupPrefix]);
        return valueIn(this.#users, prefixes, () => knownUserIn(identity, user));
      },
      onChange: (cluster) => this.#changed(cluster),
    };
    objects.onChange((changes) => {
      for (const change of changes) this.#clusters.get(change.cluster)?.changed(change);
    }, signal);
  }

  engage(member: AccessMember, signal: AbortSignal): void {
    const { name } = member;
    const life = AbortSignal.any([signal, this.#signal]);
    if (life.aborted) return;
    this.#lastId += 1;
    const access = new ClusterAccess(member, { id: this.#lastId, services: this.#services }, life);
    this.#clusters.set(name, access);
    this.counts.forget(name);
    this.#changes += 1;
    const leave = () => {
      if (this.#clusters.get(name) === access) {
        this.#clusters.delete(name);
        this.counts.forget(name);
      }
      this.#changes += 1;
    };
    life.addEventListener('abort', leave, { once: true });
  }

  visibilityOf(request: AccessRequest, signal: AbortSignal): Visibility | Promise<Visibility> {
    const { caller, cluster, kind } = request;
    const access = this.#clusters.get(cluster);
    const served = this.#options.objects.served(cluster, kind);
    // A kind that is not served, or a cluster that has left, has no objects to hide. The reader of the mirror reports the fault.
    if (access === undefined || served === undefined || served === 'absent') return nothingVisible;
    if (!isAuthenticated(caller)) return withoutUser(request);
    // No object can have a name of this length. The name must not become a key of a cache, because it may be as long as a request.
    if (request.object !== undefined && !canExist(request.object)) return nothingVisible;
    const namespaces = request.namespaces?.filter((namespace) => namespace.length <= maxNamespaceLength);
    const visibility = access.visibilityOf(caller, { ...request, namespaces, served });
    if (!(visibility instanceof Promise)) return visibility;
    return untilAborted(visibility, signal).then((known) => known ?? nothingVisible);
  }

  async explain(question: RightQuestion, signal: AbortSignal): Promise<RightAnswer> {
    const { caller, cluster, kind } = question;
    const access = this.#clusters.get(cluster);
    const served = this.#options.objects.served(cluster, kind);
    if (!isAuthenticated(caller)) return unknownRight('expected an authenticated caller');
    if (access === undefined) return unknownRight('the cluster has left the fleet');
    if (served === undefined) return unknownRight('the cluster has not answered yet');
    if (served === 'absent') return deniedRight('the cluster does not serve this kind');
    return (await untilAborted(access.explain(caller, question, served), signal)) ?? unknownRight('the request has ended');
  }

  maySeeCluster(caller: Caller, cluster: ClusterName): boolean {
    return isAuthenticated(caller) && this.#clusters.get(cluster)?.isVisibleTo(caller) === true;
  }

  prepare(caller: Caller, signal: AbortSignal): Promise<void> | undefined {
    if (!isAuthenticated(caller)) return undefined;
    const nowMs = this.#options.clock.monotonic();
    const before = this.#prepared.get(caller.key);
    if (before !== undefined && before.changes === this.#changes && nowMs < before.untilMs) return undefined;
    const clusters = [...this.#clusters.values()];
    const reviewing = clusters.map((one) => one.reviewVisibility(caller)).filter((one) => one !== undefined);
    if (reviewing.length > 0) return this.#waitForReviews(reviewing, signal);
    const untilMs = Math.min(...clusters.map((one) => one.visibleUntilMs(caller)));
    this.#prepared.set(caller.key, { untilMs, changes: this.#changes });
    return undefined;
  }

  onChange(callback: (cluster: ClusterName) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    // A function of its own for each call, because one callback may be given twice.
    const own = (cluster: ClusterName) => callback(cluster);
    this.#callbacks.add(own);
    signal.addEventListener('abort', () => this.#callbacks.delete(own), { once: true });
  }

  async #waitForReviews(reviewing: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    await Promise.race([Promise.all(reviewing), this.#options.clock.sleep(prepareMs, either)]);
    done.abort();
  }

  #changed(cluster: ClusterName): void {
    this.#changes += 1;
    if (this.#gathered.size === 0) void this.#publishSoon();
    this.#gathered.add(cluster);
  }

  async #publishSoon(): Promise<void> {
    await this.#options.clock.sleep(gatherMs, this.#signal);
    const clusters = [...this.#gathered];
    this.#gathered.clear();
    if (this.#signal.aborted) return;
    for (const cluster of clusters) for (const callback of [...this.#callbacks]) callback(cluster);
  }
}

/** Returns the value of a key. Creates it if there is none. */
function valueIn<Value extends object>(values: LRUCache<string, Value>, key: string, create: () => Value): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = create();
  values.set(key, made);
  return made;
}

/** False for names that are longer than Kubernetes allows (RFC 1123: labels of 63, subdomains of 253 characters). */
function canExist({ namespace = '', name }: NonNullable<AccessRequest['object']>): boolean {
  return name.length <= maxNameLength && namespace.length <= maxNamespaceLength;
}

function isAuthenticated(caller: Caller): caller is AuthenticatedCaller {
  return caller.user !== undefined;
}

function withoutUser({ cluster, kind: { group, kind } }: AccessRequest): Visibility {
  const message = 'expected an authenticated caller';
  return { type: 'none', fault: fault('FORBIDDEN', message, { cluster, kind: { group, kind }, retry: 'NEVER' }) };
}
