import type { KubernetesObject } from '../../core/objects.ts';
import type { Row } from '../../load/reads/reads.ts';
import { nodeOfPod, serviceAccountOfPod, targetOfAutoscaler, volumeOfClaim } from '../../load/relations/reference-targets.ts';
import {
  claimsOfPod,
  configMapsOfPod,
  podsOfClaim,
  podsOfNode,
  podsOfService,
  servicesOfIngress,
  servicesOfPod,
  slicesOfService,
} from '../../load/relations/relation-queries.ts';
import type { ReferenceTarget, RelationQuery } from '../../load/relations/relations.ts';

/** A field of one kind (`of`) that leads to one object (of kind `to`). Kinds are written as `keyOfKind` returns them. */
export interface ToOne {
  readonly of: string;
  readonly field: string;
  /** The kind of the related object. Undefined if the object may be of any kind. */
  readonly to?: string;
  readonly description: string;
  target(object: KubernetesObject): ReferenceTarget | undefined;
}

/** A field of one kind that leads to any number of objects of another kind. */
export interface ToMany {
  readonly of: string;
  readonly field: string;
  readonly to: string;
  readonly description: string;
  query(row: Row): RelationQuery;
}

/** The relations to one object that only some kinds have. */
export const toOne: readonly ToOne[] = [
  { of: 'Pod', field: 'node', to: 'Node', description: 'The Node that runs the Pod. Null if the Pod is not scheduled.', target: nodeOfPod },
  {
    of: 'Pod',
    field: 'serviceAccount',
    to: 'ServiceAccount',
    description: 'The ServiceAccount of the Pod. Null if it does not exist.',
    target: serviceAccountOfPod,
  },
  {
    of: 'PersistentVolumeClaim',
    field: 'volume',
    to: 'PersistentVolume',
    description: 'The PersistentVolume that the claim is bound to. Null if it is not bound.',
    target: volumeOfClaim,
  },
  {
    of: 'HorizontalPodAutoscaler.autoscaling',
    field: 'target',
    description: 'The object that the autoscaler scales. Null if it does not exist.',
    target: targetOfAutoscaler,
  },
];

/** The relations to many objects that only some kinds have. The Pods of workloads are in `PodOwner`. */
export const toMany: readonly ToMany[] = [
  { of: 'Pod', field: 'services', to: 'Service', description: 'The Services that select the Pod.', query: servicesOfPod },
  {
    of: 'Pod',
    field: 'configMaps',
    to: 'ConfigMap',
    description: 'The ConfigMaps that the Pod uses in volumes or environment variables.',
    query: configMapsOfPod,
  },
  {
    of: 'Pod',
    field: 'claims',
    to: 'PersistentVolumeClaim',
    description: 'The PersistentVolumeClaims that the Pod mounts.',
    query: claimsOfPod,
  },
  { of: 'Node', field: 'pods', to: 'Pod', description: 'The Pods that run on the Node.', query: podsOfNode },
  {
    of: 'Service',
    field: 'endpointSlices',
    to: 'EndpointSlice.discovery.k8s.io',
    description: 'The EndpointSlices of the Service.',
    query: slicesOfService,
  },
  { of: 'Service', field: 'pods', to: 'Pod', description: 'The Pods that the Service selects.', query: podsOfService },
  {
    of: 'Ingress.networking.k8s.io',
    field: 'services',
    to: 'Service',
    description: 'The Services that the Ingress routes to.',
    query: servicesOfIngress,
  },
  { of: 'PersistentVolumeClaim', field: 'pods', to: 'Pod', description: 'The Pods that mount the claim.', query: podsOfClaim },
];
