import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { ClusterCandidate, ClusterListing, ClusterSource } from './cluster-source.ts';
import type { Member } from './member.ts';
import { type CandidateRole, type ConnectCluster, type DuplicateName, Roster } from './roster.ts';

interface FleetOptions {
  /** If two sources use one name, the earlier source wins. */
  readonly sources: readonly ClusterSource[];
  readonly connect: ConnectCluster;
  readonly log: Log;
}

/** The clusters that belong to the fleet now. Disposing of the fleet lets all of them leave, and closes their connections. */
export interface Fleet extends AsyncDisposable {
  /** Returns the members by name, in order of code units. */
  members(): readonly Member[];
  member(name: ClusterName): Member | undefined;
  /** Returns the names whose cluster is already a member under another name. */
  duplicates(): readonly DuplicateName[];
  /** Returns the part that a candidate has in the fleet. A candidate that no source has yielded yet counts as `nameTaken`. */
  roleOf(candidate: ClusterCandidate): CandidateRole;
  /**
   * Calls back at once for each member, then for each cluster that joins, until the signal aborts. `Member.signal` aborts when the member
   * leaves.
   */
  onJoin(callback: (member: Member) => void, signal: AbortSignal): void;
  /**
   * Calls back until the signal aborts, after a member's settings or credentials changed. Also calls back after a member gets or loses a
   * fault that does not come from its API server, such as `DUPLICATE`.
   */
  onRedescribed(callback: (member: Member) => void, signal: AbortSignal): void;
  /**
   * Records the uid of a cluster's `kube-system`, once it is known. Two members with one uid at two addresses stay, each with a `DUPLICATE`
   * fault. If they are at one address, the later one leaves.
   *
   * @returns The members that left, each with the name of the member that stays.
   */
  identified(name: ClusterName, uid: string): readonly DuplicateName[];
}

/** Creates the fleet from the first set of each source, and follows the sources. Resolves once each source has yielded its first set. */
export async function createFleet({ sources, connect, log }: FleetOptions): Promise<Fleet> {
  const ended = new AbortController();
  const roster = new Roster(connect, log);
  const sets: (ClusterListing | undefined)[] = sources.map(() => undefined);
  const followers = sources.map((source, index) => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const follow = async () => {
      for await (const set of source.watch(ended.signal)) {
        sets[index] = set;
        // Waits for the first set of every source, so that no cluster joins only to leave again.
        const known = sets.filter((one) => one !== undefined);
        if (known.length === sets.length) roster.update(mergedSets(known));
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
    roleOf: (candidate) => roster.roleOf(candidate),
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

function mergedSets(sets: readonly ClusterListing[]): ClusterListing {
  return { candidates: sets.flatMap(({ candidates }) => candidates), faults: sets.flatMap(({ faults = [] }) => faults) };
}
