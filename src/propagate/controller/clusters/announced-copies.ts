import { randomUUID } from 'node:crypto';
import { sha256OfText } from '../../../core/json/canonical-json.ts';
import { type ClusterName, clusterName } from '../../../core/names.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { newShare, type ShareOwner } from '../../hub/share-document.ts';
import type { ClusterShare } from '../../model/inventory.ts';
import type { AnnouncedCopies, Propagation } from '../../model/propagation.ts';
import { newInventoryEntry } from '../../plan/copies/copy-task.ts';
import type { PropagationState } from '../state/propagation-state.ts';
import type { ClusterAssessment } from './cluster-assessment.ts';

/** Maximum size of an announcement as JSON. The rest of the status needs room too (`bounded`). */
const maxBytes = 64 * 1024;

/**
 * Announces the copies that are about to be created in these clusters, none of which has a share: one write of the status replaces a write of
 * each share. Undefined if there are none, or if the announcement would be larger than 64 KiB. The shares announce the copies then.
 */
export function announce(clusters: readonly ClusterAssessment[]): AnnouncedCopies | undefined {
  const groups = new Map<string, { readonly clusters: ClusterName[]; readonly objects: AnnouncedCopies['copies'][number]['objects'] }>();
  for (const { cluster, needs } of clusters) {
    const objects = needs.apply.filter(({ held, live }) => held === undefined && live === undefined).map(({ key }) => key);
    if (objects.length === 0) continue;
    const text = JSON.stringify(objects.map(textOfKey));
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { clusters: [cluster], objects });
    else group.clusters.push(cluster);
  }
  const announced = { intent: randomUUID(), copies: [...groups.values()] };
  return groups.size === 0 || Buffer.byteLength(JSON.stringify(announced)) > maxBytes ? undefined : announced;
}

/** Returns a share for each announced cluster, with the entries of the announced copies. The hub has none of these shares yet. */
export function sharesOf(owner: ShareOwner, announced: AnnouncedCopies | undefined): readonly ClusterShare[] {
  if (announced === undefined) return [];
  return announced.copies.flatMap(({ clusters, objects }) =>
    clusters.map((name): ClusterShare => {
      const cluster = clusterName(name);
      const entries = objects.map((key) => ({
        ...newInventoryEntry(key),
        intent: sha256OfText(JSON.stringify([announced.intent, cluster, textOfKey(key)])).slice(0, 32),
      }));
      return { ...newShare(owner, cluster), entries };
    }),
  );
}

/** Adds the shares of the announced clusters to the state, unless it has a share of the cluster. */
export function addAnnounced({ shares }: Pick<PropagationState, 'shares'>, { metadata, status }: Propagation): void {
  for (const share of sharesOf(metadata, status.announced)) if (shares?.has(share.cluster) === false) shares.set(share.cluster, share);
}

/** Returns the announcement without the clusters whose share the hub has. Undefined if no cluster is left. */
export function withoutSaved(
  announced: AnnouncedCopies | undefined,
  { shares }: Pick<PropagationState, 'shares'>,
): AnnouncedCopies | undefined {
  const isOpen = (cluster: string) => shares?.get(clusterName(cluster))?.version === undefined;
  const copies = (announced?.copies ?? [])
    .map(({ clusters, objects }) => ({ clusters: clusters.filter(isOpen), objects }))
    .filter(({ clusters }) => clusters.length > 0);
  return announced === undefined || copies.length === 0 ? undefined : { ...announced, copies };
}

/**
 * True if the status still announces copies in a cluster whose share the hub has. The next job there waits until the status is written: if
 * that job removed the share, the announcement would count again.
 */
export function isToWithdraw({ latest, shares }: Pick<PropagationState, 'latest' | 'shares'>, cluster: ClusterName): boolean {
  if (shares?.get(cluster)?.version === undefined) return false;
  return latest?.status.announced?.copies.some(({ clusters }) => clusters.includes(cluster)) ?? false;
}
