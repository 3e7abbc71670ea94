import type { ClusterShare } from '../inventory.ts';

/** True if something of ours stands in the cluster, or may, by the inventory. */
export function holdsCopies({ entries }: Pick<ClusterShare, 'entries'>): boolean {
  return entries.length > 0;
}
