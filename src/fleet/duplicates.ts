import type { ClusterName } from '../core/names.ts';
import type { Candidate } from './cluster-source.ts';

/** Who becomes a member, and which other names stand for the same cluster. */
export interface Seat {
  readonly candidate: Candidate;
  /** In the order of the candidates. */
  readonly duplicates: readonly ClusterName[];
}

/**
 * Seats the candidates so that one cluster reached by two of them has one seat: the earlier one's.
 *
 * They are one cluster if the uids of their `kube-system` are equal; where one is not known, if server, TLS name and CA are.
 */
export function planSeats(candidates: readonly Candidate[], uids: ReadonlyMap<ClusterName, string>): readonly Seat[] {
  const seats: { candidate: Candidate; duplicates: ClusterName[] }[] = [];
  for (const candidate of candidates) {
    const seat = seats.find((taken) => isSameCluster(taken.candidate, candidate, uids));
    if (seat === undefined) seats.push({ candidate, duplicates: [] });
    else seat.duplicates.push(candidate.name);
  }
  return seats;
}

function isSameCluster(a: Candidate, b: Candidate, uids: ReadonlyMap<ClusterName, string>): boolean {
  const [uidOfA, uidOfB] = [uids.get(a.name), uids.get(b.name)];
  if (uidOfA !== undefined && uidOfB !== undefined) return uidOfA === uidOfB;
  const [addressOfA, addressOfB] = [addressOf(a), addressOf(b)];
  return addressOfA !== undefined && addressOfA === addressOfB;
}

function addressOf(candidate: Candidate): string | undefined {
  if (candidate.result === 'broken') return undefined;
  const { server, tlsServerName, trust } = candidate.endpoint;
  return JSON.stringify([server, tlsServerName ?? '', fingerprintOf(trust)]);
}

/** Text that is equal for equal values, bytes included. Holds whatever the value holds: keep it out of the log. */
export function fingerprintOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part));
}
