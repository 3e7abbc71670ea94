import type { Endpoint } from '../cluster/endpoint.ts';
import type { ClusterName } from '../core/names.ts';
import { whenAborted } from '../core/scheduling/until-aborted.ts';
import type { MemberSettings } from './member.ts';

/**
 * A cluster that a source adds to the fleet. `usable`: its description is complete, although the cluster may not be reachable. `broken`:
 * its description cannot be used.
 */
export type ClusterCandidate =
  | { readonly result: 'usable'; readonly name: ClusterName; readonly endpoint: Endpoint; readonly settings: MemberSettings }
  /** `problem` is one line for the operator: what was expected, and what came. */
  | { readonly result: 'broken'; readonly name: ClusterName; readonly problem: string; readonly settings: MemberSettings };

/** A source of clusters, such as the operator's kubeconfig. */
export interface ClusterSource {
  /**
   * Yields the whole set of clusters, then the whole set again after each change. If two candidates have one name, the earlier one wins.
   *
   * A failure while it runs is logged, and the last set stays in effect. Ends when the signal aborts. Throws nothing.
   */
  watch(signal: AbortSignal): AsyncIterable<readonly ClusterCandidate[]>;
}

/** Creates a source whose set never changes. */
export function createFixedSource(candidates: readonly ClusterCandidate[]): ClusterSource {
  return {
    async *watch(signal) {
      yield candidates;
      await whenAborted(signal);
    },
  };
}
