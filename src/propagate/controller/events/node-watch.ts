import type { Members } from '../../../changes/members.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ClusterName } from '../../../core/names.ts';
import { nodeKind } from '../../plan/snapshot/cluster-locations.ts';

/** Detects changes of the location of clusters from their Nodes. */
export interface NodeWatch {
  /** Records that Nodes of the cluster have changed. The watch compares the location of the cluster after `debounceMs`. */
  nodesChanged(cluster: ClusterName): void;
}

export interface NodeWatchOptions {
  readonly members: Pick<Members, 'get' | 'objects'>;
  readonly clock: Clock;
  /** Time for which changes of Nodes are collected, because Nodes change often, and many together. */
  readonly debounceMs: number;
  /**
   * Called when provider, region or zones of the cluster have changed, have become known, or have become unknown. Also called after the
   * first change of Nodes, when nothing is known to compare with.
   */
  readonly onMoved: (cluster: ClusterName) => void;
}

/** Creates a watch that ends with the signal. */
export function createNodeWatch({ members, clock, debounceMs, onMoved }: NodeWatchOptions, signal: AbortSignal): NodeWatch {
  const known = new Map<ClusterName, string>();
  let waiting = new Set<ClusterName>();

  async function compareWaiting(): Promise<void> {
    await clock.sleep(debounceMs, signal);
    if (signal.aborted) return;
    const changed = waiting;
    waiting = new Set();
    for (const cluster of changed) {
      const text = textOf(members, cluster);
      if (known.get(cluster) === text) continue;
      known.set(cluster, text);
      onMoved(cluster);
    }
  }

  return {
    nodesChanged(cluster) {
      waiting.add(cluster);
      if (waiting.size === 1) void compareWaiting();
    },
  };
}

function textOf({ get, objects }: NodeWatchOptions['members'], cluster: ClusterName): string {
  const { provider = null, region = null, zones = [] } = get(cluster) ?? {};
  const count = objects.all(cluster, nodeKind)?.length;
  return JSON.stringify([provider, region, zones, count === undefined ? 'unread' : count > 0]);
}
