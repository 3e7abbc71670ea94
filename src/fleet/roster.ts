import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Endpoint } from '../cluster/endpoint.ts';
import type { Fault } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { brokenApi, withFaults } from './broken-api.ts';
import type { Candidate } from './cluster-source.ts';
import { fingerprintOf, planSeats, type Seat } from './duplicates.ts';
import type { Member } from './member.ts';

/** Opens nothing before the API is used. The signal is the member's life. */
export type Connect = (endpoint: Endpoint, signal: AbortSignal) => ClusterApi;

/** A name that stands for a cluster which has a member already. */
export interface Duplicate {
  readonly name: ClusterName;
  readonly same: ClusterName;
}

interface Seated {
  readonly member: Member;
  readonly life: AbortController;
  readonly fingerprint: string;
  duplicates: readonly ClusterName[];
}

/** Who is a member: turns sets of candidates into lives that begin and end, with a line in the log for each. All in the turn of the call. */
export class Roster {
  readonly #connect: Connect;
  readonly #log: Log;
  readonly #seated = new Map<ClusterName, Seated>();
  readonly #callbacks = new Set<(member: Member) => void>();
  /** Kept for those who left as duplicates too: else they would come back at the next change. */
  readonly #uids = new Map<ClusterName, string>();
  #fingerprints = new Map<ClusterName, string>();
  #candidates: readonly Candidate[] = [];

  constructor(connect: Connect, log: Log) {
    this.#connect = connect;
    this.#log = log;
  }

  members(): readonly Member[] {
    return [...this.#seated.values()].map(({ member }) => member).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  member(name: ClusterName): Member | undefined {
    return this.#seated.get(name)?.member;
  }

  onJoin(callback: (member: Member) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#callbacks.add(callback);
    signal.addEventListener('abort', () => this.#callbacks.delete(callback), { once: true });
    for (const { member } of [...this.#seated.values()]) callback(member);
  }

  identified(name: ClusterName, uid: string): readonly Duplicate[] {
    if (this.#uids.get(name) === uid || !this.#seated.has(name)) return [];
    this.#uids.set(name, uid);
    const before = new Set(this.#seated.keys());
    this.#reseat();
    return this.duplicates().filter((duplicate) => before.has(duplicate.name));
  }

  /** All of them, in the order of the candidates. */
  duplicates(): readonly Duplicate[] {
    return [...this.#seated.values()].flatMap(({ member, duplicates }) => duplicates.map((name) => ({ name, same: member.name })));
  }

  /** Takes the whole set of candidates, the earlier winning over the later. Who is unchanged is not touched. */
  update(all: readonly Candidate[]): void {
    this.#candidates = this.#firstOfEachName(all);
    const before = this.#fingerprints;
    this.#fingerprints = new Map(this.#candidates.map((candidate) => [candidate.name, fingerprintOf(candidate)]));
    // Under a name that is described otherwise than before there may be another cluster.
    for (const [name, fingerprint] of before) if (this.#fingerprints.get(name) !== fingerprint) this.#uids.delete(name);
    this.#reseat();
  }

  end(): void {
    this.#callbacks.clear();
    for (const { member, life } of [...this.#seated.values()]) this.#unseat(member.name, life);
  }

  #reseat(): void {
    const seats = new Map(planSeats(this.#candidates, this.#uids).map((seat) => [seat.candidate.name, seat]));
    for (const entry of [...this.#seated.values()]) {
      const { name } = entry.member;
      if (!seats.has(name)) this.#leave(entry, 'left the fleet');
      else if (this.#fingerprints.get(name) !== entry.fingerprint) this.#leave(entry, 'left the fleet, to join it as it is described now');
    }
    for (const seat of seats.values()) this.#seat(seat);
  }

  #seat(seat: Seat): void {
    const entry = this.#seated.get(seat.candidate.name);
    for (const duplicate of seat.duplicates)
      if (!entry?.duplicates.includes(duplicate))
        this.#log.warn({ cluster: seat.candidate.name, duplicate, fault: 'DUPLICATE' }, 'two names of one cluster: it is read once');
    if (entry === undefined) this.#join(seat);
    else entry.duplicates = seat.duplicates;
  }

  #join({ candidate, duplicates }: Seat): void {
    const life = new AbortController();
    const { name, settings } = candidate;
    const api = candidate.result === 'usable' ? this.#connect(candidate.endpoint, life.signal) : brokenApi(name, candidate.problem);
    const faults = () => duplicateFaults(name, this.#seated.get(name)?.duplicates ?? duplicates);
    const member: Member = { name, settings, signal: life.signal, api: withFaults(api, faults) };
    this.#seated.set(name, { member, life, fingerprint: this.#fingerprints.get(name) ?? '', duplicates });
    this.#log.info({ cluster: name, membership: 'joined' }, 'cluster: joined the fleet');
    for (const callback of [...this.#callbacks]) callback(member);
  }

  #leave({ member: { name }, life }: Seated, how: string): void {
    this.#log.info({ cluster: name, membership: 'left' }, `cluster: ${how}`);
    this.#unseat(name, life);
  }

  #unseat(name: ClusterName, life: AbortController): void {
    this.#seated.delete(name);
    life.abort();
  }

  #firstOfEachName(candidates: readonly Candidate[]): readonly Candidate[] {
    const first = new Map<ClusterName, Candidate>();
    for (const candidate of candidates) {
      if (first.has(candidate.name)) this.#log.warn({ cluster: candidate.name }, 'two sources name a cluster alike: the first is taken');
      else first.set(candidate.name, candidate);
    }
    return [...first.values()];
  }
}

function duplicateFaults(cluster: ClusterName, duplicates: readonly ClusterName[]): readonly Fault[] {
  return duplicates.map((other) => ({
    code: 'DUPLICATE',
    cluster,
    message: `${other} is the same cluster: it is read once, as ${cluster}`,
    retry: 'NEVER',
  }));
}
