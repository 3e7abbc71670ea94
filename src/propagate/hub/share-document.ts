import { type ClusterName, parseClusterName, parseResourceVersion } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ClusterShare, InventoryEntry } from '../inventory.ts';
import type { SpecProblem } from '../propagation.ts';
import { marks } from '../propagation.ts';
import { type Codec, choice, list, mapped, optional, record, required } from '../spec/codec.ts';
import { keyFields, withKey } from '../spec/flat-key.ts';
import { anyText, clusterText, flag, integer, time } from '../spec/texts.ts';
import type { Manifest } from '../spec.ts';
import { health, recordedFault } from './fault-codec.ts';
import { hubKinds } from './hub.ts';
import { shareNameOf } from './share-name.ts';

/** So many entries per share (propagation.md 5.3). */
export const maxEntries = 200;

const takenOver = record({
  uid: required(anyText),
  as: required(choice(['Owned', 'Shared'])),
  revision: required(integer(0)),
  values: optional(anyText),
});

const flatEntry = record({
  ...keyFields,
  state: required(choice(['Intended', 'Owned', 'Shared', 'Deleting', 'PendingDeletion'])),
  uid: optional(anyText),
  intent: optional(anyText),
  appliedHash: optional(anyText),
  observedHash: optional(anyText),
  appliedGeneration: optional(integer(0)),
  action: optional(choice(['Created', 'Configured', 'Unchanged', 'Deleted', 'Orphaned', 'Restored', 'Skipped', 'Failed'])),
  health: required(health),
  fault: optional(recordedFault),
  sent: optional(anyText),
  finished: optional(flag),
  takenOver: optional(takenOver),
  corrections: optional(list(time, { max: 5 })),
});

const entry: Codec<InventoryEntry> = mapped(flatEntry, {
  to(flat) {
    const [key, rest] = withKey(flat);
    return { key, ...rest };
  },
  from: ({ key, ...rest }) => ({ ...key, ...rest }),
});

/** What a share says beside its metadata. */
export const shareContent = record({ cluster: required(clusterText), objects: required(list(entry, { max: maxEntries })) });

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
  const content = { cluster, objects: entries.map((one) => entry.print(one)) };
  return { apiVersion, kind: hubKinds.clusterShare.kind, metadata, ...content };
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
  const problems: SpecProblem[] = [];
  const { cluster, objects } = object;
  const content = shareContent.read({ cluster, objects }, { path: '', problems });
  const member = content === undefined ? undefined : parseClusterName(content.cluster);
  if (content === undefined || member === undefined) return undefined;
  if (owner === undefined || ownerName === undefined || version === undefined || uid === undefined) return undefined;
  return { name, namespace, owner, ownerName, cluster: member, version, uid, entries: content.objects };
}
