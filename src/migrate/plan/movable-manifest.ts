import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { withoutMembers, withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { templateOf } from '../../propagate/plan/snapshot/read-live.ts';
import type { TemplateObject } from '../../propagate/plan/snapshot/snapshot.ts';
import { isBuiltInWorkload } from '../discover/owned-objects.ts';
import type { DiscoveredObject } from '../discover/source-objects.ts';
import { migrationMarks } from '../model/migration.ts';

/**
 * Returns an object of the source as a manifest for another cluster. Fields are removed as for a template of a Propagation, and also node
 * ports, the bound volume of a claim, and the label of an earlier migration. A Secret has no data: `sourceVersion` is its resourceVersion,
 * and absent for other kinds.
 */
export function movableManifest(
  { key, object }: DiscoveredObject,
  cluster: ClusterName,
): Pick<TemplateObject, 'manifest' | 'sourceVersion'> {
  const kind = groupKindOfKey(key);
  const { manifest, sourceVersion } = templateOf(
    { object, key, resource: { ...kind, namespaced: key.namespace !== undefined } },
    cluster,
    {},
  );
  const unmarked = withoutEmpty(withoutValueAt(manifest, ['metadata', 'labels', migrationMarks.migration]), 'labels');
  return { manifest: withoutClusterFields(unmarked, keyOfKind(kind)), ...(sourceVersion === undefined ? {} : { sourceVersion }) };
}

function withoutClusterFields(manifest: Manifest, kind: string): Manifest {
  switch (kind) {
    case 'Service':
      return withoutNodePorts(manifest);
    case 'PersistentVolumeClaim':
      return withoutVolume(manifest);
    default:
      return manifest;
  }
}

/** Returns a Service without node ports, so that its cluster assigns new ones. Returns a manifest without node ports unchanged. */
export function withoutNodePorts(service: Manifest): Manifest {
  const ports = listAt(service, 'spec', 'ports');
  const hasNone =
    numberAt(service, 'spec', 'healthCheckNodePort') === undefined && ports.every((port) => numberAt(port, 'nodePort') === undefined);
  if (hasNone) return service;
  const left = ports.map((port) => (isJsonObject(port) ? withoutMembers(port, ['nodePort']) : port));
  const without = withoutValueAt(service, ['spec', 'healthCheckNodePort']);
  return ports.length === 0 ? without : withValueAt(without, ['spec', 'ports'], left);
}

/**
 * Annotations in which the volume controllers store to which volume a claim is bound. With them, the API server reports a new claim as
 * Lost.
 */
const volumeAnnotation = /^(pv\.kubernetes\.io|volume\.kubernetes\.io|volume\.beta\.kubernetes\.io)\//;

function withoutVolume(claim: Manifest): Manifest {
  const annotations = objectAt(claim, 'metadata', 'annotations');
  const bound = Object.keys(annotations).filter((key) => volumeAnnotation.test(key));
  const unbound = bound.reduce((left, key) => withoutValueAt(left, ['metadata', 'annotations', key]), claim);
  return withoutEmpty(withoutValueAt(unbound, ['spec', 'volumeName']), 'annotations');
}

function withoutEmpty(manifest: Manifest, map: 'labels' | 'annotations'): Manifest {
  const isEmpty = isJsonObject(manifest.metadata[map]) && Object.keys(objectAt(manifest, 'metadata', map)).length === 0;
  return isEmpty ? withoutValueAt(manifest, ['metadata', map]) : manifest;
}

/**
 * Returns the number of replicas in the target: the number in the source times the factor, rounded up. At least 1, or 0 if the source has
 * none.
 */
export function movedReplicas(replicas: number, factor: number): number {
  return replicas === 0 ? 0 : Math.max(1, Math.ceil(withoutFloatError(replicas * factor)));
}

/** Removes the error of floating-point multiplication: 10 × 0.7 is 7, and not a little more. */
function withoutFloatError(value: number): number {
  return Number(value.toPrecision(12));
}

/** Returns a HorizontalPodAutoscaler with its bounds times the factor. Other manifests stay unchanged. */
export function withMovedBounds(manifest: Manifest, factor: number): Manifest {
  if (keyOfKind(groupKindOfKey(manifest)) !== 'HorizontalPodAutoscaler.autoscaling' || factor === 1) return manifest;
  return ['minReplicas', 'maxReplicas'].reduce<Manifest>((left, field) => {
    const bound = numberAt(left, 'spec', field);
    return bound === undefined ? left : withValueAt(left, ['spec', field], movedReplicas(bound, factor));
  }, manifest);
}

/** The counts of a scale subresource: the wanted replicas in `spec`, or the present ones in `status`. */
export type CountField = 'spec' | 'status';

/**
 * Returns the path of a count of a workload's kind, from its scale subresource. Built-in workloads have `spec.replicas` and `status.replicas`.
 * Undefined if the kind has no scale subresource.
 *
 * @param definitions The CustomResourceDefinitions of the clusters in which the kind may be defined.
 * @param field Default: the count in `spec`.
 */
export function countPathOf(
  key: Pick<ObjectKey, 'apiVersion' | 'kind'>,
  definitions: Iterable<JsonObject>,
  field: CountField = 'spec',
): readonly string[] | undefined {
  if (isBuiltInWorkload(key)) return [field, 'replicas'];
  const kind = groupKindOfKey(key);
  for (const definition of definitions) {
    const spec = objectAt(definition, 'spec');
    if (textAt(spec, 'group') !== kind.group || textAt(spec, 'names', 'kind') !== kind.kind) continue;
    const path = listAt(spec, 'versions')
      .map((version) => scalePathIn(version, field))
      .find((one) => one !== undefined);
    if (path !== undefined) return path;
  }
  return undefined;
}

function scalePathIn(version: Json, field: CountField): readonly string[] | undefined {
  const path = textAt(version, 'subresources', 'scale', `${field}ReplicasPath`);
  return path === undefined || valueAt(version, 'served') === false ? undefined : path.split('.').filter((part) => part !== '');
}
