import type { V1ObjectReference, V1PersistentVolumeClaim, V1Pod, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { type GroupKind, groupOfApiVersion } from '../../core/kinds.ts';
import type { KubernetesObject, OwnerReference, TypedObject } from '../../core/objects.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';
import type { ReferenceTarget } from './relations.ts';

/** Returns the reference to the controller, or else the first owner reference. Undefined without owners. */
export function ownerReferenceOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  const references = itemsOf(metadata.ownerReferences);
  return references.find(({ controller }) => controller === true) ?? references[0];
}

/**
 * Returns the target of an owner reference: in the namespace of the owned object or cluster-scoped, and only with the uid of the reference.
 * Undefined if the reference lacks the kind, the name or the uid.
 */
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

/** The targets of owner references. Cached by reference, because mirrored objects with the same owner share the reference. */
const owners = new WeakMap<object, ReferenceTarget>();

/**
 * Returns the target of an ObjectReference. Without a namespace, the target is in the namespace of the referring object. Without a uid, any
 * object of the name counts. Undefined without a kind or a name.
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

/** Returns the Node that runs a Pod. Undefined before the Pod is scheduled. */
export function nodeOfPod(pod: TypedObject<V1Pod>): ReferenceTarget | undefined {
  return namedIn(pod, nodeKind, pod.spec?.nodeName);
}

/** Returns the ServiceAccount of a Pod. Undefined if the Pod names none. */
export function serviceAccountOfPod(pod: TypedObject<V1Pod>): ReferenceTarget | undefined {
  return namedIn(pod, serviceAccountKind, pod.spec?.serviceAccountName);
}

/** Returns the volume that a claim is bound to. Undefined before it is bound. */
export function volumeOfClaim(claim: TypedObject<V1PersistentVolumeClaim>): ReferenceTarget | undefined {
  return namedIn(claim, volumeKind, claim.spec?.volumeName);
}

/** Returns the workload that an autoscaler scales. Undefined if the autoscaler names none. */
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

/**
 * Returns the uid of a reference. Undefined without a uid, and for the name of a Node, which Events of a kubelet have in place of the uid.
 */
function uidIn(
  reference: Stored<V1ObjectReference> | undefined,
  { kind, name }: { readonly kind: string; readonly name: string },
): string | undefined {
  const uid = textOrUndefined(reference?.uid);
  return uid === '' || (kind === 'Node' && uid === name) ? undefined : uid;
}
