import type { V1ObjectReference, V1PersistentVolumeClaim, V1Pod, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { type GroupKind, groupOfApiVersion } from '../../core/kinds.ts';
import type { KubernetesObject, OwnerReference, TypedObject } from '../../core/objects.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';
import type { ReferenceTarget } from './relations.ts';

/** The reference to the controller; else the first that there is. Undefined for what nobody owns. */
export function ownerReferenceOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  const references = itemsOf(metadata.ownerReferences);
  return references.find(({ controller }) => controller === true) ?? references[0];
}

/** What an OwnerReference names: in the namespace of the object it belongs to, or in none; that uid and no other. */
export function targetOfOwner(
  reference: OwnerReference | undefined,
  { metadata: { namespace } }: KubernetesObject,
): ReferenceTarget | undefined {
  if (reference === undefined) return undefined;
  const known = owners.get(reference);
  if (known !== undefined && known.namespace === namespace) return known;
  const uid = textOrUndefined(reference.uid);
  const target = targetOfReference(reference, namespace);
  if (target === undefined || uid === undefined) return undefined;
  const owner = { ...target, namespace, uid };
  owners.set(reference, owner);
  return owner;
}

/** Kept with the references, which mirrored siblings share. */
const owners = new WeakMap<object, ReferenceTarget>();

/**
 * What an ObjectReference names. Without a namespace it means that of the object it stands in, without a uid whoever has the name. Undefined if it says
 * neither kind nor name.
 */
export function targetOfReference(
  reference: Stored<V1ObjectReference> | undefined,
  ownNamespace: string | undefined,
): ReferenceTarget | undefined {
  const kind = textOrUndefined(reference?.kind);
  const name = textOrUndefined(reference?.name);
  if (kind === undefined || kind === '' || name === undefined || name === '') return undefined;
  const namespace = textOrUndefined(reference?.namespace) || ownNamespace;
  const uid = uidIn(reference, { kind, name });
  return { kind: { group: groupOfApiVersion(textOrUndefined(reference?.apiVersion) ?? ''), kind }, namespace, name, uid };
}

/** Where a Pod runs. */
export function nodeOfPod(pod: TypedObject<V1Pod>): ReferenceTarget | undefined {
  return namedIn(pod, nodeKind, pod.spec?.nodeName);
}

/** As whom a Pod speaks to the API server. */
export function serviceAccountOfPod(pod: TypedObject<V1Pod>): ReferenceTarget | undefined {
  return namedIn(pod, serviceAccountKind, pod.spec?.serviceAccountName);
}

/** What a claim is bound to. */
export function volumeOfClaim(claim: TypedObject<V1PersistentVolumeClaim>): ReferenceTarget | undefined {
  return namedIn(claim, volumeKind, claim.spec?.volumeName);
}

/** What an autoscaler scales. */
export function targetOfAutoscaler({ metadata, spec }: TypedObject<V2HorizontalPodAutoscaler>): ReferenceTarget | undefined {
  const target = targetOfReference(spec?.scaleTargetRef, metadata.namespace);
  return target && { ...target, namespace: metadata.namespace };
}

const nodeKind: GroupKind = { group: '', kind: 'Node' };
const serviceAccountKind: GroupKind = { group: '', kind: 'ServiceAccount' };
const volumeKind: GroupKind = { group: '', kind: 'PersistentVolume' };

function namedIn({ metadata: { namespace } }: KubernetesObject, kind: GroupKind, name: string | undefined): ReferenceTarget | undefined {
  return typeof name !== 'string' || name === '' ? undefined : { kind, namespace, name };
}

/** The kubelet writes the name of its Node where the uid belongs. */
function uidIn(
  reference: Stored<V1ObjectReference> | undefined,
  { kind, name }: { readonly kind: string; readonly name: string },
): string | undefined {
  const uid = textOrUndefined(reference?.uid);
  return uid === '' || (kind === 'Node' && uid === name) ? undefined : uid;
}
