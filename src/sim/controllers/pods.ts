import type { V1Container } from '@kubernetes/client-node';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import type { Pod, ReplicaSet } from './controller-view.ts';
import { controllerReference, type World } from './world.ts';

/** The annotation of a Pod template that decides how its Pods end. `runPods` explains its values. */
const outcomeAnnotation = 'sim/outcome';

export interface PodNaming {
  readonly name: string;
  /** Labels in addition to those of the template. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The node of the Pod. DaemonSets set it; other Pods are scheduled. */
  readonly nodeName?: string;
  readonly extraSpec?: JsonObject;
}

/** Returns a new pending Pod of the owner's template, with the defaults of an API server. */
export function podOf(owner: ReplicaSet, naming: PodNaming, world: World): KubernetesObject {
  const template = owner.spec?.template;
  const annotations = template?.metadata?.annotations ?? {};
  const containers = itemsOf(template?.spec?.containers).map((container) => ({ ...containerDefaults, ...container }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: naming.name,
      namespace: owner.metadata.namespace ?? 'default',
      creationTimestamp: world.creationTimeFor(owner),
      labels: { ...(template?.metadata?.labels ?? {}), ...naming.labels },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      ...podDefaults,
      ...template?.spec,
      containers,
      ...naming.extraSpec,
      ...(naming.nodeName === undefined ? {} : { nodeName: naming.nodeName }),
    },
    status: { phase: 'Pending', qosClass: qosOf(containers) },
  };
}

const containerDefaults: JsonObject = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};

const podDefaults: JsonObject = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  serviceAccount: 'default',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: ['not-ready', 'unreachable'].map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

function qosOf(containers: readonly Stored<V1Container>[]): string {
  const resourcePairs = containers.map(({ resources }) => [resources?.requests ?? {}, resources?.limits ?? {}] as const);
  if (resourcePairs.every(([requests, limits]) => Object.keys(requests).length + Object.keys(limits).length === 0)) return 'BestEffort';
  const isWhole = ([requests, limits]: readonly [JsonObject, JsonObject]) =>
    ['cpu', 'memory'].every((name) => limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]);
  return resourcePairs.every(isWhole) ? 'Guaranteed' : 'Burstable';
}

export function podPhaseOf(pod: Pod): string {
  return pod.status?.phase ?? 'Pending';
}

export function isReady(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && hasTrueCondition(pod, 'Ready');
}

export function isTerminating({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isFinished(pod: Pod): boolean {
  const phase = podPhaseOf(pod);
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Returns `failed`, `forever`, `crash` or `no-image`. Undefined for a normal Pod. */
export function outcomeAnnotationOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[outcomeAnnotation];
}

/** Returns the names and images of a Pod's containers. */
export function containerImagesOf(pod: Pod): readonly { readonly name: string; readonly image: string }[] {
  return itemsOf(pod.spec?.containers).map(({ name = '', image = '' }) => ({ name, image }));
}
