import type { ClusterApi } from '../cluster/cluster-api.ts';
import { type ClusterFailure, faultOfFailure } from '../cluster/cluster-failure.ts';
import type { Endpoint } from '../cluster/endpoint.ts';
import { type Fault, fault } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { ClusterCandidate, ClusterListing } from './cluster-source.ts';
import { connectionKeyOf, descriptionKeyOf, isAlone, type PlannedMember, planMembers } from './duplicates.ts';
import type { Member, MemberSettings } from './member.ts';

/**
 * Connects to a cluster, but opens nothing before the API is used. The connection ends when the signal aborts.
 *
 * @param current Returns the endpoint as it is described now. Only its credentials, client certificate, namespace and rule for addresses may differ from those
 * of `endpoint`.
 */
export type ConnectCluster = (endpoint: Endpoint, signal: AbortSignal, current: () => Endpoint) => ClusterApi;

/** The part that a candidate has in the fleet. */
export type CandidateRole =
  | { readonly role: 'member' }
  /** An earlier candidate has the name. */
  | { readonly role: 'nameTaken' }
  /** The candidate is the same cluster as the member `same`, so it is not read. */
  | { readonly role: 'duplicate'; readonly same: ClusterName };

/** A name whose cluster is already a member under another name. */
export interface DuplicateName {
  readonly name: ClusterName;
  readonly same: ClusterName;
}

/**
 * A connection to one cluster. It stays open if only credentials, the client certificate, the namespace or the settings of the cluster
 * change. Then the member stays too, and nothing is mirrored again.
 */
interface Connection {
  readonly api: ClusterApi;
  readonly key: string;
  readonly life: AbortController;
}

interface MemberEntry {
  readonly member: Member;
  readonly connection: Connection;
  /** The lifetime of the member. It ends before the lifetime of the connection, or together with it. */
  readonly life: AbortController;
  plan: PlannedMember;
}

/**
 * The list of members. From each set of candidates it decides which members join and leave, connects to them and logs each change. Then it
 * calls the callbacks of `onJoin` and `onRedescribed`. All of this happens before `update` or `identified` returns.
 */
export class Roster {
  readonly #connect: ConnectCluster;
  readonly #log: Log;
  readonly #entries = new Map<ClusterName, MemberEntry>();
  readonly #joinCallbacks = new Set<(member: Member) => void>();
  readonly #redescribedCallbacks = new Set<(member: Member) => void>();
  /**
   * The uid of `kube-system` in each cluster, by the name of the cluster. Candidates that left as duplicates keep their entry: without it, they would
   * join again at the next change.
   */
  readonly #uids = new Map<ClusterName, string>();
  #candidates: readonly ClusterCandidate[] = [];
  #sourceFaults: readonly Fault[] = [];

  constructor(connect: ConnectCluster, log: Log) {
    this.#connect = connect;
    this.#log = log;
  }

  members(): readonly Member[] {
    return [...this.#entries.values()].map(({ member }) => member).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  member(name: ClusterName): Member | undefined {
    return this.#entries.get(name)?.member;
  }

  onJoin(callback: (member: Member) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#joinCallbacks.add(callback);
    signal.addEventListener('abort', () => this.#joinCallbacks.delete(callback), { once: true });
    for (const { member } of [...this.#entries.values()]) callback(member);
  }

  onRedescribed(callback: (member: Member) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#redescribedCallbacks.add(callback);
    signal.addEventListener('abort', () => this.#redescribedCallbacks.delete(callback), { once: true });
  }

  identified(name: ClusterName, uid: string): readonly DuplicateName[] {
    const known = this.#uids.get(name);
    const entry = this.#entries.get(name);
    if (known === uid || entry === undefined) return [];
    const changesNothing = known === undefined && isAlone(entry.plan.candidate, { uid, candidates: this.#candidates, uids: this.#uids });
    this.#uids.set(name, uid);
    if (changesNothing) return [];
    const before = new Set(this.#entries.keys());
    this.#updateMembers();
    return this.duplicates().filter((duplicate) => before.has(duplicate.name));
  }

  /** Returns the part that a candidate of the last set has in the fleet. */
  roleOf(candidate: ClusterCandidate): CandidateRole {
    if (!this.#candidates.includes(candidate)) return { role: 'nameTaken' };
    if (this.#entries.has(candidate.name)) return { role: 'member' };
    const duplicate = this.duplicates().find(({ name }) => name === candidate.name);
    return duplicate === undefined ? { role: 'member' } : { role: 'duplicate', same: duplicate.same };
  }

  /** Returns all duplicate names, in the order of the candidates. */
  duplicates(): readonly DuplicateName[] {
    return [...this.#entries.values()].flatMap(({ member, plan }) => plan.duplicates.map((name) => ({ name, same: member.name })));
  }

  /**
   * Replaces the set of candidates, and lets members join, change and leave during the call. If two candidates have one name, the earlier
   * one wins. Unchanged members are not touched.
   */
  update({ candidates, faults = [] }: ClusterListing): void {
    const faultsBefore = this.#sourceFaults;
    this.#sourceFaults = faults;
    const before = new Map(this.#candidates.map((candidate) => [candidate.name, connectionKeyOf(candidate)]));
    this.#candidates = this.#firstOfEachName(candidates);
    const now = new Map(this.#candidates.map((candidate) => [candidate.name, connectionKeyOf(candidate)]));
    // A name with another address may be another cluster.
    for (const [name, key] of before) if (now.get(name) !== key) this.#uids.delete(name);
    this.#updateMembers();
    this.#reportSourceFaults(faultsBefore);
  }

  end(): void {
    this.#joinCallbacks.clear();
    this.#redescribedCallbacks.clear();
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
  }

  #updateMembers(): void {
    const plans = new Map(planMembers(this.#candidates, this.#uids).map((plan) => [plan.candidate.name, plan]));
    for (const entry of [...this.#entries.values()]) {
      const plan = plans.get(entry.member.name);
      if (plan === undefined) this.#leave(entry, 'left the fleet');
      else if (connectionKeyOf(plan.candidate) !== entry.connection.key)
        this.#leave(entry, 'left the fleet, to join it again with its new description');
    }
    const redescribed = [...plans.values()].filter((plan) => this.#updateMember(plan));
    for (const { candidate } of redescribed) this.#reportRedescribed(candidate.name);
  }

  #reportRedescribed(name: ClusterName): void {
    const member = this.#entries.get(name)?.member;
    if (member !== undefined) for (const callback of [...this.#redescribedCallbacks]) callback(member);
  }

  /** Calls the callbacks for each member whose faults of sources have changed. */
  #reportSourceFaults(before: readonly Fault[]): void {
    const textOf = (faults: readonly Fault[], name: ClusterName) => JSON.stringify(faults.filter(({ cluster }) => cluster === name));
    const names = new Set([...before, ...this.#sourceFaults].map(({ cluster }) => cluster));
    for (const name of names) if (textOf(before, name) !== textOf(this.#sourceFaults, name)) this.#reportRedescribed(name);
  }

  /**
   * Lets the candidate join, or updates its member.
   *
   * @returns True if the member stays and its description has changed.
   */
  #updateMember(plan: PlannedMember): boolean {
    const { candidate } = plan;
    const entry = this.#entries.get(candidate.name);
    this.#warnOfDuplicates(entry?.plan, plan);
    if (entry === undefined) {
      this.#join(plan, this.#connectTo(candidate));
      return false;
    }
    if (isSame(entry.plan, plan)) return false;
    entry.plan = plan;
    return true;
  }

  #warnOfDuplicates(before: PlannedMember | undefined, { candidate: { name }, duplicates, twins }: PlannedMember): void {
    for (const duplicate of duplicates)
      if (!before?.duplicates.includes(duplicate))
        this.#log.warn({ cluster: name, duplicate, fault: 'DUPLICATE' }, 'two names of one cluster: it is read once');
    for (const duplicate of twins)
      if (!before?.twins.includes(duplicate))
        this.#log.warn({ cluster: name, duplicate, fault: 'DUPLICATE' }, 'two addresses with one kube-system uid: both clusters are read');
  }

  #connectTo(candidate: ClusterCandidate): Connection {
    const { name } = candidate;
    const life = new AbortController();
    const key = connectionKeyOf(candidate);
    if (candidate.result === 'broken') return { api: brokenApi(name, candidate.problem), key, life };
    const { endpoint } = candidate;
    const current = () => {
      const now = this.#entries.get(name)?.plan.candidate;
      return now?.result === 'usable' ? now.endpoint : endpoint;
    };
    return { api: this.#connect(endpoint, life.signal, current), key, life };
  }

  #join(plan: PlannedMember, connection: Connection): void {
    const { name } = plan.candidate;
    const life = new AbortController();
    const currentPlan = () => this.#entries.get(name)?.plan ?? plan;
    let known: { readonly plan: PlannedMember; readonly sourceFaults: readonly Fault[]; readonly faults: readonly Fault[] } | undefined;
    const faultsNow = () => {
      const [now, sourceFaults] = [currentPlan(), this.#sourceFaults];
      if (known?.plan !== now || known.sourceFaults !== sourceFaults) {
        const own = sourceFaults.filter((about) => about.cluster === name);
        known = { plan: now, sourceFaults, faults: [...problemFaults(now), ...duplicateFaults(name, now), ...own] };
      }
      return known.faults;
    };
    const member: Member = {
      name,
      get settings(): MemberSettings {
        return currentPlan().candidate.settings;
      },
      signal: life.signal,
      api: withFaults(connection.api, faultsNow),
    };
    this.#entries.set(name, { member, connection, life, plan });
    this.#log.info({ cluster: name, membership: 'joined' }, 'cluster: joined the fleet');
    for (const callback of [...this.#joinCallbacks]) callback(member);
  }

  #leave(entry: MemberEntry, how: string): void {
    this.#log.info({ cluster: entry.member.name, membership: 'left' }, `cluster: ${how}`);
    this.#remove(entry);
  }

  #remove({ member, life, connection }: MemberEntry): void {
    this.#entries.delete(member.name);
    life.abort();
    connection.life.abort();
  }

  #firstOfEachName(candidates: readonly ClusterCandidate[]): readonly ClusterCandidate[] {
    const first = new Map<ClusterName, ClusterCandidate>();
    for (const candidate of candidates) {
      if (first.has(candidate.name))
        this.#log.warn({ cluster: candidate.name }, 'two sources have a cluster of this name: the first one is used');
      else first.set(candidate.name, candidate);
    }
    return [...first.values()];
  }
}

function isSame(a: PlannedMember, b: PlannedMember): boolean {
  return (
    descriptionKeyOf(a.candidate) === descriptionKeyOf(b.candidate) &&
    a.duplicates.join() === b.duplicates.join() &&
    a.twins.join() === b.twins.join()
  );
}

function problemFaults({ candidate }: PlannedMember): readonly Fault[] {
  const problems = candidate.result === 'usable' ? (candidate.problems ?? []) : [];
  return problems.map((problem) => faultOfFailure(problem, { cluster: candidate.name }));
}

function duplicateFaults(cluster: ClusterName, { duplicates, twins }: PlannedMember): readonly Fault[] {
  const faultOf = (message: string, facts: Pick<Fault, 'other'> = {}) => fault('DUPLICATE', message, { cluster, retry: 'NEVER', ...facts });
  return [
    ...duplicates.map((other) => faultOf(`${other} is the same cluster: it is read once, as ${cluster}`)),
    ...twins.map((other) =>
      faultOf(`${other} has the same kube-system uid at another address: if both are one cluster, it is read twice`, { other }),
    ),
  ];
}

/**
 * Creates the API of a cluster whose description is broken. Every request fails with the problem as a fault, so the cluster shows it like
 * any other faulty cluster.
 */
function brokenApi(cluster: ClusterName, problem: ClusterFailure): ClusterApi {
  const broken = faultOfFailure(problem, { cluster });
  async function* fail() {
    yield { type: 'failed', fault: broken } as const;
  }
  return {
    cluster,
    list: fail,
    watch: fail,
    logs: fail,
    send: () => Promise.resolve({ type: 'failed', fault: broken }),
    connectionFaults: [broken],
  };
}

/** Returns the same API with additional faults of the connection itself, such as `INSECURE`. Calls `faults` at each read. */
function withFaults(api: ClusterApi, faults: () => readonly Fault[]): ClusterApi {
  return {
    cluster: api.cluster,
    list: (page, signal) => api.list(page, signal),
    watch: (start, signal) => api.watch(start, signal),
    logs: (request, signal) => api.logs(request, signal),
    send: (request, signal) => api.send(request, signal),
    get connectionFaults() {
      const own = faults();
      return own.length === 0 ? api.connectionFaults : [...api.connectionFaults, ...own];
    },
  };
}
