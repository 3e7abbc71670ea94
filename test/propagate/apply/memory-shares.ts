import { clusterName, parseResourceVersion } from '../../../src/core/names.ts';
import { newShare } from '../../../src/propagate/hub/share-document.ts';
import type { ClusterShare, InventoryEntry, ShareStore } from '../../../src/propagate/model/inventory.ts';

/** Stores shares in memory like the hub, guarded by their versions. */
export interface MemoryShares extends ShareStore {
  /** The stored share. Undefined if there is none. */
  readonly kept: ClusterShare | undefined;
  /** The share with which the next work starts. */
  current(): ClusterShare;
  /** The entries of each save, in order. A removal is an empty list. */
  readonly saves: readonly (readonly InventoryEntry[])[];
  /** Simulates a save by another process. Shares that were read before are outdated then. */
  touch(): void;
}

export const owner = { uid: 'uid-of-web', namespace: 'apps', name: 'web' };
export const cluster = clusterName('south');

/** Creates an in-memory store for the share of one cluster. */
export function createMemoryShares(): MemoryShares {
  const saves: (readonly InventoryEntry[])[] = [];
  let kept: ClusterShare | undefined;
  let version = 0;
  const versionOf = () => parseResourceVersion(String(version));
  const stored = (share: ClusterShare): ClusterShare => {
    version += 1;
    const next = versionOf();
    return { ...structuredClone(share), uid: 'uid-of-share', ...(next === undefined ? {} : { version: next }) };
  };
  return {
    saves,
    get kept() {
      return kept;
    },
    current: () => kept ?? newShare(owner, cluster),
    touch() {
      if (kept !== undefined) kept = stored(kept);
    },
    load: async () => (kept === undefined ? [] : [kept]),
    async save(share) {
      if (share.version !== kept?.version) return { result: 'conflict' };
      kept = stored(share);
      saves.push(kept.entries);
      return { result: 'saved', share: kept };
    },
    async remove(share) {
      if (kept !== undefined && share.version !== kept.version) return { result: 'conflict' };
      kept = undefined;
      saves.push([]);
      return { result: 'removed' };
    },
  };
}
