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

/** Whose share: what its name, its label and its owner reference are made of. */
export interface ShareOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A share without entries that is not on the hub yet. */
export function newShare(owner: ShareOwner, cluster: ClusterName): ClusterShare {
  const { namespace, name: ownerName, uid } = owner;
  return { name: shareNameOf(owner, cluster), namespace, owner: uid, ownerName, cluster, entries: [] };
}

/** The share as its resource, under our finalizer: neither a namespace nor an owner that goes takes the proof of what is ours along. */
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
 * Undefined for what is no share of ours: anybody may write a resource, and what is read wrongly proves nothing. The same one for the same object, so
 * that what nobody changed is parsed once.
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
