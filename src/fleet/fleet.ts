import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { ClusterCandidate, ClusterSource } from './cluster-source.ts';
import type { Member } from './member.ts';
import { type ConnectCluster, type DuplicateName, Roster } from './roster.ts';

interface FleetOptions {
  /** Of two that name a cluster alike the earlier one's is taken. */
  readonly sources: readonly ClusterSource[];
  readonly connect: ConnectCluster;
  readonly log: Log;
}

/** Which clusters exist now. Disposing it ends the life of each. */
export interface Fleet extends AsyncDisposable {
  /** By name, in order of code units. */
  members(): readonly Member[];
  member(name: ClusterName): Member | undefined;
  /** Names that stand for a cluster which has a member already. */
  duplicates(): readonly DuplicateName[];
  /** Calls back at once for each member there is, then for each that joins, until the signal aborts. A member's own signal tells when it leaves. */
  onJoin(callback: (member: Member) => void, signal: AbortSignal): void;
  /**
   * Calls back after a member is described otherwise while it stays a member (labels, region, provider, zones, taints, credentials), or gets a
   * `DUPLICATE` fault or loses it, until the signal aborts.
   */
  onRedescribed(callback: (member: Member) => void, signal: AbortSignal): void;
  /**
   * Records the uid of a cluster's `kube-system`, once it is known. Two members with one uid at two addresses stay, each with a `DUPLICATE` fault. If they
   * are at one address, the later one leaves.
   *
   * @returns Who has left by it, and as whom it is read from now on.
   */
  identified(name: ClusterName, uid: string): readonly DuplicateName[];
}

/** Makes the fleet of what the sources say first, and follows them. Resolves once each source has said its first set. */
export async function createFleet({ sources, connect, log }: FleetOptions): Promise<Fleet> {
  const ended = new AbortController();
  const roster = new Roster(connect, log);
  const sets: (readonly ClusterCandidate[] | undefined)[] = sources.map(() => undefined);
  const followers = sources.map((source, place) => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const follow = async () => {
      for await (const candidates of source.watch(ended.signal)) {
        sets[place] = candidates;
        // All sources begin at once, so that nobody is seated only to be sent away.
        if (sets.every((set) => set !== undefined)) roster.update(sets.flat());
        start();
      }
    };
    return { started, done: follow().finally(start) };
  });
  await Promise.all(followers.map(({ started }) => started));
  return {
    members: () => roster.members(),
    member: (name) => roster.member(name),
    duplicates: () => roster.duplicates(),
    onJoin: (callback, signal) => roster.onJoin(callback, signal),
    onRedescribed: (callback, signal) => roster.onRedescribed(callback, signal),
    identified: (name, uid) => roster.identified(name, uid),
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      roster.end();
      await Promise.all(followers.map(({ done }) => done));
    },
  };
}
