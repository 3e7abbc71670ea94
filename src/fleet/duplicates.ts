import type { ClusterName } from '../core/names.ts';
import type { ClusterCandidate } from './cluster-source.ts';

/** A candidate that becomes a member, and the other names of its cluster. */
export interface PlannedMember {
  readonly candidate: ClusterCandidate;
  /** The names of later candidates for the same cluster, in order. They do not become members. */
  readonly duplicates: readonly ClusterName[];
  /** Members at other addresses whose `kube-system` has the same uid. They are clones of one cluster, or one cluster that is read twice. */
  readonly twins: readonly ClusterName[];
}

/**
 * True if no candidate of another name has the address of this one or `uid`. Then the plan is the same before and after its uid becomes known.
 * `candidate` may be an earlier description with the same address, so it is not found among `candidates` by identity.
 */
export function isAlone(
  candidate: ClusterCandidate,
  {
    uid,
    candidates,
    uids,
  }: { readonly uid: string; readonly candidates: readonly ClusterCandidate[]; readonly uids: ReadonlyMap<ClusterName, string> },
): boolean {
  const address = addressOf(candidate);
  return candidates.every(
    (other) => other.name === candidate.name || (uids.get(other.name) !== uid && (address === undefined || addressOf(other) !== address)),
  );
}

/**
 * Decides which candidates become members. Of several candidates for one cluster, only the earliest becomes a member.
 *
 * An address is server, TLS name and CA. Two candidates with one address are one cluster, unless the uids of their `kube-system` are known
 * and differ. If an inventory lists the earlier candidate, both are members until both uids are known. Otherwise a Secret with the public
 * address of a cluster and invalid credentials would keep that cluster out of the fleet.
 *
 * One uid at two addresses is one cluster if the later candidate was registered or found. Of two candidates of the operator's own files it
 * is two clusters, because a cluster that was restored from another cluster's backup has the same uid.
 */
export function planMembers(candidates: readonly ClusterCandidate[], uids: ReadonlyMap<ClusterName, string>): readonly PlannedMember[] {
  const planned: { readonly candidate: ClusterCandidate; readonly duplicates: ClusterName[]; readonly uid: string | undefined }[] = [];
  const byAddress = new Map<string, typeof planned>();
  for (const candidate of candidates) {
    const uid = uids.get(candidate.name);
    const address = addressOf(candidate);
    const atAddress = address === undefined ? [] : (byAddress.get(address) ?? []);
    const earlier =
      atAddress.find((member) =>
        uid !== undefined && member.uid !== undefined ? member.uid === uid : member.candidate.found !== 'listed',
      ) ?? (candidate.found !== undefined && uid !== undefined ? planned.find((member) => member.uid === uid) : undefined);
    if (earlier !== undefined) {
      earlier.duplicates.push(candidate.name);
      continue;
    }
    const member = { candidate, duplicates: [], uid };
    planned.push(member);
    if (address !== undefined) byAddress.set(address, [...atAddress, member]);
  }
  const namesByUid = Map.groupBy(planned, ({ uid }) => uid);
  return planned.map(({ candidate, duplicates, uid }) => {
    const sameUid = uid === undefined ? [] : (namesByUid.get(uid) ?? []);
    return { candidate, duplicates, twins: sameUid.map((member) => member.candidate.name).filter((name) => name !== candidate.name) };
  });
}

/** Returns a text that is equal for equal values, bytes included. The text contains the whole value, so it must not be logged. */
function fingerprintOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part));
}

/**
 * Returns a key. If it changes, the cluster leaves the fleet and joins again. It covers the endpoint and how rights of callers are decided.
 * Credentials, client certificate, namespace, the rule for addresses and all other settings may change while the cluster stays a member.
 */
export const connectionKeyOf = remembered((candidate) => {
  if (candidate.result === 'broken') return fingerprintOf(['broken', candidate.problem.code, candidate.problem.message]);
  const { credentials: _, clientCertificate: __, namespace: ___, addressRule: ____, ...rest } = candidate.endpoint;
  const { authorization, identity } = candidate.settings;
  return fingerprintOf([rest, authorization, identity]);
});

/** Returns the key of the whole description. */
export const descriptionKeyOf = remembered((candidate) => fingerprintOf(candidate));

const addressOf = remembered((candidate) => {
  if (candidate.result === 'broken') return undefined;
  const { server, tlsServerName, trust } = candidate.endpoint;
  return fingerprintOf([server, tlsServerName ?? '', trust]);
});

/** Returns `keyOf` with a cache of the key of each candidate. All candidates are compared again when the uid of one becomes known. */
function remembered<Key extends string | undefined>(keyOf: (candidate: ClusterCandidate) => Key): (candidate: ClusterCandidate) => Key {
  const known = new WeakMap<ClusterCandidate, { readonly key: Key }>();
  return (candidate) => {
    const before = known.get(candidate);
    if (before !== undefined) return before.key;
    const key = keyOf(candidate);
    known.set(candidate, { key });
    return key;
  };
}
