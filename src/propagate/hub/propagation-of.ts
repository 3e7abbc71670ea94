import { invariant } from '../../core/errors.ts';
import { labelsAt, listAt, numberAt, objectAt, textAt } from '../../core/json-at.ts';
import { parseResourceVersion } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Propagation, PropagationMetadata } from '../model/propagation.ts';
import { parseSpec } from '../model/spec.ts';
import { parseStatus } from '../model/status-definition.ts';

const read = new WeakMap<KubernetesObject, Propagation>();

/** Parses an object as a Propagation. The result is cached per object, so an unchanged object is parsed once. */
export function propagationOf(object: KubernetesObject): Propagation {
  const known = read.get(object);
  if (known !== undefined) return known;
  const document = objectAt(object, 'spec');
  const propagation = {
    metadata: resourceMetadataOf(object),
    document,
    spec: parseSpec(document),
    status: parseStatus(objectAt(object, 'status')),
  };
  read.set(object, propagation);
  return propagation;
}

/** Reads the metadata of one of Muster's resources. */
export function resourceMetadataOf(object: KubernetesObject): PropagationMetadata {
  const { name, namespace = '', uid = '', ownerReferences: owners = [] } = object.metadata;
  const version = parseResourceVersion(object.metadata.resourceVersion);
  invariant(version !== undefined, 'an API server gives every object a version');
  const deletionTimestamp = textAt(object, 'metadata', 'deletionTimestamp');
  return {
    namespace,
    name,
    uid,
    version,
    generation: numberAt(object, 'metadata', 'generation') ?? 0,
    labels: labelsAt(object, 'metadata', 'labels'),
    annotations: labelsAt(object, 'metadata', 'annotations'),
    finalizers: listAt(object, 'metadata', 'finalizers').filter((one) => typeof one === 'string'),
    owners,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}
