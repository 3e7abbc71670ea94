import { isJsonObject } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** What is kept of the objects of one kind: all that is served, or their metadata alone. */
export type HoldingPolicy = 'parsed' | 'metadata';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The object as a mirror holds it: without `managedFields`. By the policy `metadata` without anything but metadata either, and without
 * kubectl's last-applied-configuration, which holds the whole object, a Secret's data with it.
 *
 * The object itself where nothing has to go; it is never written to.
 */
export function heldFormOf(object: KubernetesObject, policy: HoldingPolicy): KubernetesObject {
  if (policy === 'metadata') return metadataOf(object);
  if (!Object.hasOwn(object.metadata, 'managedFields')) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function metadataOf({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { managedFields: _, annotations, ...rest } = metadata;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    metadata: annotations == null ? rest : { ...rest, annotations: withoutLastApplied(annotations) },
  };
}

function withoutLastApplied(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!isJsonObject(annotations) || !Object.hasOwn(annotations, lastApplied)) return annotations;
  const { [lastApplied]: _, ...others } = annotations;
  return others;
}
