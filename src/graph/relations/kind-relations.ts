import type { KubernetesObject } from '../../core/objects.ts';
import type { Row } from '../../load/reads.ts';
import {
  claimsOfPod,
  configMapsOfPod,
  podsOfClaim,
  podsOfNode,
  podsOfService,
  servicesOfIngress,
  servicesOfPod,
  slicesOfService,
} from '../../load/relations/questions.ts';
import type { Question, Target } from '../../load/relations/relations.ts';
import { nodeOfPod, serviceAccountOfPod, targetOfAutoscaler, volumeOfClaim } from '../../load/relations/targets.ts';

/** A field of one kind that leads to one object. Kinds by `keyOfKind`. */
export interface ToOne {
  readonly of: string;
  readonly field: string;
  /** Absent: of any kind. */
  readonly to?: string;
  readonly description: string;
  target(object: KubernetesObject): Target | undefined;
}

/** A field of one kind that leads to any number of objects of another one. */
export interface ToMany {
  readonly of: string;
  readonly field: string;
  readonly to: string;
  readonly description: string;
  question(row: Row): Question;
}

/** The relations to one object that kinds have of their own. */
export const toOne: readonly ToOne[] = [
  { of: 'Pod', field: 'node', to: 'Node', description: 'Where it runs; null while it runs nowhere.', target: nodeOfPod },
  {
    of: 'Pod',
    field: 'serviceAccount',
    to: 'ServiceAccount',
    description: 'As whom it speaks to its cluster.',
    target: serviceAccountOfPod,
  },
  {
    of: 'PersistentVolumeClaim',
    field: 'volume',
    to: 'PersistentVolume',
    description: 'What it is bound to; null while it is bound to nothing.',
    target: volumeOfClaim,
  },
  { of: 'HorizontalPodAutoscaler.autoscaling', field: 'target', description: 'What it scales.', target: targetOfAutoscaler },
];

/** The relations to many objects that kinds have of their own, but for the Pods of workloads. */
export const toMany: readonly ToMany[] = [
  { of: 'Pod', field: 'services', to: 'Service', description: 'The Services that select it.', question: servicesOfPod },
  {
    of: 'Pod',
    field: 'configMaps',
    to: 'ConfigMap',
    description: 'The ConfigMaps that it reads, as volumes or as variables.',
    question: configMapsOfPod,
  },
  { of: 'Pod', field: 'claims', to: 'PersistentVolumeClaim', description: 'The claims that it mounts.', question: claimsOfPod },
  { of: 'Node', field: 'pods', to: 'Pod', description: 'The Pods that run on it.', question: podsOfNode },
  {
    of: 'Service',
    field: 'endpointSlices',
    to: 'EndpointSlice.discovery.k8s.io',
    description: 'Where its endpoints stand.',
    question: slicesOfService,
  },
  { of: 'Service', field: 'pods', to: 'Pod', description: 'The Pods that it selects.', question: podsOfService },
  {
    of: 'Ingress.networking.k8s.io',
    field: 'services',
    to: 'Service',
    description: 'The Services that it leads to.',
    question: servicesOfIngress,
  },
  { of: 'PersistentVolumeClaim', field: 'pods', to: 'Pod', description: 'The Pods that mount it.', question: podsOfClaim },
];
