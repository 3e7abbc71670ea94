import type { Endpoint } from '../cluster/endpoint.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberSettings } from './member.ts';

/** A cluster that a source would have in the fleet: reachable as far as can be told from its description, or why not. */
export type ClusterCandidate =
  | { readonly result: 'usable'; readonly name: ClusterName; readonly endpoint: Endpoint; readonly settings: MemberSettings }
  /** `problem` is one line for the operator: what was expected and what came. */
  | { readonly result: 'broken'; readonly name: ClusterName; readonly problem: string; readonly settings: MemberSettings };

/** Where clusters come from: the operator's kubeconfig, later registrations in a hub. */
export interface ClusterSource {
  /**
   * The whole set as it is now, then again after each change; of two candidates for one cluster the earlier wins.
   *
   * What breaks while it runs is logged and leaves the last set standing. Ends when the signal aborts; throws nothing.
   */
  watch(signal: AbortSignal): AsyncIterable<readonly ClusterCandidate[]>;
}

/** A source that says one set and never another. */
export function fixedSource(candidates: readonly ClusterCandidate[]): ClusterSource {
  return {
    async *watch(signal) {
      yield candidates;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}
