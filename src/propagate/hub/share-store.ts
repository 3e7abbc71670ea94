import type { ObjectAddress, ObjectClient } from '../../changes/object-client.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ClusterShare, ShareSaved, ShareStore } from '../model/inventory.ts';
import { maxEntries } from '../model/inventory-definition.ts';
import { marks } from '../model/propagation.ts';
import { type Hub, hubFault, hubKinds, listOnHub, requestOnHub } from './hub.ts';
import { parseShare, printShare, type ShareOwner } from './share-document.ts';
import { shareNameOf } from './share-name.ts';

/** The stored shares, with reads from the mirror. */
export interface HubShares extends ShareStore {
  /**
   * Reads a share from the mirror, without waiting. It may be outdated, so use it only to show something, never to decide. Undefined if
   * the mirror has no valid share of this name, or has no first list yet.
   */
  read(owner: ShareOwner, cluster: string): ClusterShare | undefined;
  /**
   * Returns the names of shares that refer to the Propagation by label or owner, but cannot be parsed. Each may be the only proof of copies
   * in a cluster. Reads the mirror, without waiting. Undefined while the mirror has no first list.
   */
  unreadable(owner: { readonly namespace: string; readonly uid: string }): readonly string[] | undefined;
}

/** Creates the store of shares on the hub. Keeps their mirror until the signal aborts. */
export function createShareStore(hub: Hub, signal: AbortSignal): HubShares {
  const kind = hubKinds.clusterShare;
  const { objects } = hub.members;
  objects.hold(hub.cluster, kind, signal);
  return {
    read(owner, cluster) {
      const mirrored = objects.read(hub.cluster, kind, { namespace: owner.namespace, name: shareNameOf(owner, cluster) });
      return mirrored.result === 'held' ? parseShare(mirrored.object) : undefined;
    },
    unreadable: ({ namespace, uid }) =>
      objects
        .all(hub.cluster, kind)
        ?.filter((object) => object.metadata.namespace === namespace && refersTo(object, uid) && parseShare(object)?.owner !== uid)
        .map(({ metadata }) => metadata.name)
        .sort(),
    async load({ namespace, uid }, until) {
      const found = await listOnHub(hub, { kind, namespace, labels: { [marks.propagation]: uid } }, until);
      return 'fault' in found ? found : found.map(parseShare).filter((share) => share !== undefined);
    },
    save: (share, until) => saveShare(hub, share, until),
    remove: (share, until) => deleteShare(hub, share, until),
  };
}

function refersTo({ metadata: { labels, ownerReferences = [] } }: KubernetesObject, uid: string): boolean {
  return labels?.[marks.propagation] === uid || ownerReferences.some((reference) => reference.uid === uid);
}

async function saveShare(hub: Hub, share: ClusterShare, signal: AbortSignal): Promise<ShareSaved> {
  if (share.entries.length > maxEntries) {
    const message = `expected at most ${maxEntries} objects in one cluster, got ${share.entries.length}`;
    return { result: 'failed', fault: hubFault(hub, 'TOO_LARGE', message) };
  }
  const manifest = printShare(share);
  const write = (client: ObjectClient, address: ObjectAddress) =>
    share.version === undefined
      ? client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal)
      : client.replace({ ...address, object: manifest, run: 'real' }, signal);
  const answer = await requestOnHub(hub, { kind: hubKinds.clusterShare, objectName: share }, write);
  switch (answer.result) {
    case 'written': {
      const saved = parseShare(answer.object);
      return saved === undefined
        ? { result: 'failed', fault: hubFault(hub, 'MALFORMED', 'expected the share as it was sent') }
        : { result: 'saved', share: saved };
    }
    // Another process has deleted the share, so that process works on this Propagation too.
    case 'absent':
    case 'conflict':
      return { result: 'conflict' };
    case 'failed':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Deletes a share in two steps: first marks it as being deleted, guarded by its version, then removes the finalizer. So the share proves
 * its copies until the last step. After a crash between the two steps, the next pass finds the share in deletion and continues.
 */
async function deleteShare(hub: Hub, share: ClusterShare, signal: AbortSignal): ReturnType<ShareStore['remove']> {
  const { uid, version } = share;
  if (version === undefined) return { result: 'removed' };
  const at = { kind: hubKinds.clusterShare, objectName: share };
  const deleted = await requestOnHub(hub, at, (client, address) =>
    client.delete({ ...address, preconditions: { uid, resourceVersion: version }, cascade: 'Background', run: 'real' }, signal),
  );
  if (deleted.result === 'absent') return { result: 'removed' };
  if (deleted.result !== 'written') return deleted;
  const { resourceVersion, finalizers } = { finalizers: undefined, ...deleted.object.metadata };
  if (finalizers === undefined) return { result: 'removed' };
  const released = await requestOnHub(hub, at, (client, address) =>
    client.patch({ ...address, type: 'merge', patch: { metadata: { uid, resourceVersion, finalizers: null } }, run: 'real' }, signal),
  );
  if (released.result === 'written' || released.result === 'absent') return { result: 'removed' };
  return released;
}
