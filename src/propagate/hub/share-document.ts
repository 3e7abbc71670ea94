import { printDocument, readDocument } from '../../core/json/documents.ts';
import type { JsonObject } from '../../core/json.ts';
import { type ClusterName, parseClusterName, parseResourceVersion } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { ClusterShare } from '../model/inventory.ts';
import { shareContent } from '../model/inventory-definition.ts';
import { marks } from '../model/propagation.ts';
import { hubKinds } from './hub.ts';
import { shareNameOf } from './share-name.ts';

/** The Propagation that owns a share. The name, the label and the owner reference of the share are made from it. */
export interface ShareOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Creates a share without entries that the hub does not have yet. */
export function newShare(owner: ShareOwner, cluster: ClusterName): ClusterShare {
  const { namespace, name: ownerName, uid } = owner;
  return { name: shareNameOf(owner, cluster), namespace, owner: uid, ownerName, cluster, entries: [] };
}

/**
 * Prints a share as its resource. Muster's finalizer protects it, so that the proof of ownership stays when the namespace or the
 * Propagation is deleted.
 */
export function printShare({ name, namespace, owner, ownerName, version, uid, cluster, entries }: ClusterShare): Manifest {
  const { apiVersion, kind } = hubKinds.propagation;
  const metadata = {
    name,
    namespace,
    ...(uid === undefined ? {} : { uid }),
    ...(version === undefined ? {} : { resourceVersion: version }),
    labels: { [marks.propagation]: owner },
    finalizers: [marks.finalizer],
    ownerReferences: [{ apiVersion, kind, name: ownerName, uid: owner }],
  };
  const content = printDocument(shareContent, { cluster, objects: entries });
  return { apiVersion, kind: hubKinds.clusterShare.kind, metadata, ...(content as JsonObject) };
}

const read = new WeakMap<KubernetesObject, ClusterShare>();

/**
 * Parses an object as a share. Undefined if it is not a valid share: any user may write such a resource, and an invalid one proves nothing.
 * The result is cached per object, so an unchanged object is parsed once.
 */
export function parseShare(object: KubernetesObject): ClusterShare | undefined {
  const share = read.get(object) ?? shareIn(object);
  if (share !== undefined) read.set(object, share);
  return share;
}

function shareIn(object: KubernetesObject): ClusterShare | undefined {
  const { name, namespace = '', uid, labels, ownerReferences = [] } = object.metadata;
  const owner = labels?.[marks.propagation];
  const ownerName = ownerReferences.find((reference) => reference.uid === owner)?.name;
  const version = parseResourceVersion(object.metadata.resourceVersion);
  const { cluster, objects } = object;
  const content = readDocument(shareContent, { cluster, objects });
  const member = 'problems' in content ? undefined : parseClusterName(content.value.cluster);
  if ('problems' in content || member === undefined) return undefined;
  if (owner === undefined || ownerName === undefined || version === undefined || uid === undefined) return undefined;
  return { name, namespace, owner, ownerName, cluster: member, version, uid, entries: content.value.objects };
}
