import type { ClusterFailure } from '../cluster/cluster-failure.ts';
import type { Endpoint } from '../cluster/endpoint.ts';
import type { Fault } from '../core/faults.ts';
import { type ClusterName, clusterName, parseClusterName } from '../core/names.ts';
import { whenAborted } from '../core/scheduling/until-aborted.ts';
import type { MemberSettings } from './member.ts';

interface CandidateFacts {
  readonly name: ClusterName;
  readonly settings: MemberSettings;
  /**
   * How the cluster was found while the gateway runs: registered on the hub, or listed by an inventory. If its `kube-system` has the uid of an
   * earlier candidate, it is the same cluster at any address. Absent if the operator's own files name it, and it counts as another cluster at
   * another address.
   */
  readonly found?: 'registered' | 'listed';
  /** The generation of the object that describes the cluster. Absent if it has none. */
  readonly generation?: number | undefined;
}

/**
 * A cluster that a source adds to the fleet. `usable`: its description is complete, although the cluster may not be reachable. `broken`:
 * its description cannot be used.
 */
export type ClusterCandidate =
  | (CandidateFacts & {
      readonly result: 'usable';
      readonly endpoint: Endpoint;
      /** The problems of the description. Users see them with the problems of the connection. Present while an older description stays in use. */
      readonly problems?: readonly ClusterFailure[];
    })
  /** The message of `problem` is one line with the expected and the actual value. */
  | (CandidateFacts & { readonly result: 'broken'; readonly problem: ClusterFailure });

/** All clusters of a source at one time, in order of precedence. */
export interface ClusterListing {
  /** If two candidates have one name, the earlier one wins. */
  readonly candidates: readonly ClusterCandidate[];
  /** Problems of the source itself, as faults of the members that hold its data. Default: none. */
  readonly faults?: readonly Fault[];
}

/** A source of clusters, such as the operator's kubeconfig. */
export interface ClusterSource {
  /**
   * Yields the whole set of clusters, then the whole set again after each change.
   *
   * A failure while it runs is logged, and the last set stays in effect. Ends when the signal aborts. Throws nothing.
   */
  watch(signal: AbortSignal): AsyncIterable<ClusterListing>;
}

/** Creates a source whose set never changes. */
export function createFixedSource(candidates: readonly ClusterCandidate[]): ClusterSource {
  return {
    async *watch(signal) {
      yield { candidates };
      await whenAborted(signal);
    },
  };
}

/** Returns a name that can be shown. Invalid characters are replaced, because the name itself may be the problem of the cluster. */
export function shownName(text: string): ClusterName {
  return parseClusterName(text) ?? clusterName(`${text.replaceAll(/\p{Cc}/gu, '?').slice(0, 80) || '?'} (invalid name)`);
}
