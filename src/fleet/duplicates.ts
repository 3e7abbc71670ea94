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
  const seats: Taken[] = [];
  const byUid = new Map<string, Taken>();
  const byAddress = new Map<string, Taken[]>();
  for (const candidate of candidates) {
    const uid = uids.get(candidate.name);
    const address = addressOf(candidate);
    const there = address === undefined ? undefined : byAddress.get(address)?.find((taken) => uid === undefined || taken.uid === undefined);
    const seat = earlier(uid === undefined ? undefined : byUid.get(uid), there);
    if (seat !== undefined) {
      seat.duplicates.push(candidate.name);
      continue;
    }
    const taken: Taken = { candidate, duplicates: [], uid, index: seats.length };
    seats.push(taken);
    if (uid !== undefined) byUid.set(uid, taken);
    if (address !== undefined) byAddress.set(address, [...(byAddress.get(address) ?? []), taken]);
  }
  return seats;
}

interface Taken extends Seat {
  readonly duplicates: ClusterName[];
  readonly uid: string | undefined;
  readonly index: number;
}

function earlier(a: Taken | undefined, b: Taken | undefined): Taken | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.index < b.index ? a : b;
}

/** Candidates are compared again whenever one of them is identified, so each is spelled out once. */
const addresses = new WeakMap<Candidate, string>();

function addressOf(candidate: Candidate): string | undefined {
  if (candidate.result === 'broken') return undefined;
  const known = addresses.get(candidate);
  if (known !== undefined) return known;
  const { server, tlsServerName, trust } = candidate.endpoint;
  const address = JSON.stringify([server, tlsServerName ?? '', fingerprintOf(trust)]);
  addresses.set(candidate, address);
  return address;
}

/** Text that is equal for equal values, bytes included. Holds whatever the value holds: keep it out of the log. */
export function fingerprintOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part));
}
