import { isJsonObject, type Json } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Target } from './relations.ts';

/** The reference to the controller; else the first that there is. Undefined for what nobody owns. */
export function ownerReferenceOf({ metadata: { ownerReferences } }: KubernetesObject): Json | undefined {
  if (!Array.isArray(ownerReferences)) return undefined;
  const references: readonly Json[] = ownerReferences;
  let first: Json | undefined;
  for (const reference of references) {
    if (!isJsonObject(reference)) continue;
    if (reference.controller === true) return reference;
    first ??= reference;
  }
  return first;
}

/** What an OwnerReference names: in the namespace of the object it belongs to, or in none; that uid and no other. */
export function targetOfOwner(reference: Json | undefined, { metadata: { namespace } }: KubernetesObject): Target | undefined {
  if (!isJsonObject(reference)) return undefined;
  const known = owners.get(reference);
  if (known !== undefined && known.namespace === namespace) return known;
  const uid = textAt(reference, 'uid');
  const target = targetOfReference(reference, namespace);
  if (target === undefined || uid === undefined) return undefined;
  const owner = { ...target, namespace, uid };
  owners.set(reference, owner);
  return owner;
}

/** Kept with the references, which mirrored siblings share. */
const owners = new WeakMap<object, Target>();

/**
 * What an ObjectReference names. Without a namespace it means that of the object it stands in, without a uid whoever has the name. Undefined if it says
 * neither kind nor name.
 */
export function targetOfReference(reference: Json | undefined, ownNamespace: string | undefined): Target | undefined {
  const kind = textAt(reference, 'kind');
  const name = textAt(reference, 'name');
  if (kind === undefined || kind === '' || name === undefined || name === '') return undefined;
  const namespace = textAt(reference, 'namespace') || ownNamespace;
  const uid = uidIn(reference, { kind, name });
  return { kind: { group: groupIn(textAt(reference, 'apiVersion')), kind }, namespace, name, ...(uid === undefined ? undefined : { uid }) };
}

/** Where a Pod runs. */
export function nodeOfPod(pod: KubernetesObject): Target | undefined {
  return namedIn(pod, nodeKind, textAt(pod, 'spec', 'nodeName'));
}

/** As whom a Pod speaks to the API server. */
export function serviceAccountOfPod(pod: KubernetesObject): Target | undefined {
  return namedIn(pod, serviceAccountKind, textAt(pod, 'spec', 'serviceAccountName'));
}

/** What a claim is bound to. */
export function volumeOfClaim(claim: KubernetesObject): Target | undefined {
  return namedIn(claim, volumeKind, textAt(claim, 'spec', 'volumeName'));
}

/** What an autoscaler scales. */
export function targetOfAutoscaler(autoscaler: KubernetesObject): Target | undefined {
  const reference = isJsonObject(autoscaler.spec) ? autoscaler.spec.scaleTargetRef : undefined;
  const target = targetOfReference(reference, autoscaler.metadata.namespace);
  return target && { ...target, namespace: autoscaler.metadata.namespace };
}

const nodeKind: GroupKind = { group: '', kind: 'Node' };
const serviceAccountKind: GroupKind = { group: '', kind: 'ServiceAccount' };
const volumeKind: GroupKind = { group: '', kind: 'PersistentVolume' };

function namedIn({ metadata: { namespace } }: KubernetesObject, kind: GroupKind, name: string | undefined): Target | undefined {
  return name === undefined || name === '' ? undefined : { kind, namespace, name };
}

/** The kubelet writes the name of its Node where the uid belongs. */
function uidIn(reference: Json | undefined, { kind, name }: { readonly kind: string; readonly name: string }): string | undefined {
  const uid = textAt(reference, 'uid');
  return uid === '' || (kind === 'Node' && uid === name) ? undefined : uid;
}

/** `apps/v1` → `apps`, `v1` → the core group. */
function groupIn(apiVersion = ''): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
